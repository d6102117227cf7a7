#include "plan_print.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/plan/rollout.h"

static void print_names(const char *title, const json_t *names)
{
    size_t i;
    json_t *name;
    if (json_array_size(names))
        printf("\n%s:\n", title);
    json_array_foreach (names, i, name)
        printf("  %s\n", json_string_value(name));
}

static void print_move(const json_t *move)
{
    const json_t *pods = json_object_get(move, "pods");
    size_t i;
    json_t *pod;
    printf("  %-24s %-8s", json_str_or_empty(move, "node"), json_str_or_empty(move, "tier"));
    json_array_foreach (pods, i, pod)
        printf("%s%s", i ? ", " : " asks to leave: ", json_string_value(pod));
    printf("\n");
}

static void print_wave(const json_t *plan, int64_t number, const json_t *wave)
{
    size_t i;
    json_t *move;
    const char *begins = json_str(wave, "begins");
    printf("\nwave %lld%s%s%s:\n", (long long) number, json_bool(wave, "canary", false) ? " (canary)" : "",
           begins ? ", begins " : "", str_or_empty(begins));
    json_array_foreach (json_object_get(plan, "moves"), i, move)
        if (json_int(move, "wave", 0) == number)
            print_move(move);
}

static void print_under_way(const json_t *plan)
{
    size_t i;
    json_t *move;
    if (json_int(plan, "underWay", 0))
        printf("\nunder way:\n");
    json_array_foreach (json_object_get(plan, "moves"), i, move)
        if (json_int(move, "wave", 0) == 0)
            print_move(move);
}

static void print_stays(const json_t *plan)
{
    size_t i, k;
    json_t *stay, *name;
    json_array_foreach (json_object_get(plan, "stay"), i, stay) {
        printf("\nstays as it is, %s:\n", json_str_or_empty(stay, "reason"));
        json_array_foreach (json_object_get(stay, "names"), k, name)
            printf("  %s\n", json_string_value(name));
    }
}

static void print_blockers(const json_t *plan)
{
    size_t i;
    json_t *b;
    const json_t *blockers = json_object_get(plan, "blockers");
    if (json_array_size(blockers))
        printf("\nin the way:\n");
    json_array_foreach (blockers, i, b)
        printf("  %s: %s\n", json_str_or_empty(b, "node"), json_str_or_empty(b, "message"));
}

/* What a person has to do before it begins. */
static void print_held(const json_t *plan)
{
    const char *held = json_str(plan, "held");
    if (str_eq(held, rollout_hold_reason(ROLLOUT_HOLD_APPROVAL)))
        printf("waits for approval: kubectl annotate gpuclusterpolicy " POLICY_NAME " " POLICY_APPROVED "=%s --overwrite\n",
               json_str_or_empty(plan, "hash"));
    else if (held)
        printf("does not begin while spec.rollout.paused is true\n");
}

static void print_plan(const json_t *plan)
{
    size_t i;
    json_t *pool, *wave;
    printf("plan %s, made at %s\n%s\n", json_str_or_empty(plan, "hash"), json_str_or_empty(plan, "madeAt"),
           json_str_or_empty(plan, "message"));
    json_array_foreach (json_object_get(plan, "pools"), i, pool)
        printf("pool %s: %lld get another driver, %lld another stack alone\n", json_str_or_empty(pool, "name"),
               (long long) json_int(pool, "driver", 0), (long long) json_int(pool, "stack", 0));
    print_held(plan);
    print_under_way(plan);
    json_array_foreach (json_object_get(plan, "waves"), i, wave)
        print_wave(plan, (int64_t) i + 1, wave);
    print_stays(plan);
    print_blockers(plan);
}

void plan_print(const json_t *whole)
{
    const json_t *plan = json_object_get(whole, "plan");
    if (json_is_object(plan))
        print_plan(plan);
    else
        printf("nothing to do: every node that Ostler serves runs what the policy says\n");
    print_names("gets its first driver and stack, at once", json_object_get(whole, "first"));
    print_names("has a GPU and is not served", json_object_get(whole, "notServed"));
}
