#include "commands/plan_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/rollout_types.h"

/* Limits for long lists; -o yaml prints everything. */
enum { ROWS = 20, NAMES = 10 };

/* ---- names */

/* Orders gpu-2 before gpu-10. */
static int by_number(const void *a, const void *b)
{
    return strverscmp(*(const char *const *) a, *(const char *const *) b);
}

/* The texts of a list in that order, borrowed from it. Owned by the caller. */
static const char **plan_print_sorted(const json_t *texts)
{
    size_t n = json_array_size(texts);
    const char **names = xcalloc(n, sizeof *names);
    JSON_EACH_AT (i, text, texts)
        names[i] = json_string_value(text);
    qsort(names, n, sizeof *names, by_number);
    return names;
}

/* "gpu-1, gpu-2, … and 38 more" */
static void print_in_a_row(const json_t *texts)
{
    CLEANUP_FREE const char **names = plan_print_sorted(texts);
    size_t n = json_array_size(texts);
    for (size_t i = 0; i < n && i < NAMES; i++)
        printf("%s%s", i ? ", " : "", names[i]);
    if (n > NAMES)
        printf(" and %zu more", n - NAMES);
}

static void print_rest(size_t all, const char *what)
{
    if (all > ROWS)
        printf("  and %zu more %s%s; -o yaml has all of them\n", all - ROWS, what,
               all - ROWS == 1 ? "" : "s");
}

static void print_rows(const char *title, const json_t *texts)
{
    CLEANUP_FREE const char **names = plan_print_sorted(texts);
    size_t n = json_array_size(texts);
    if (n)
        printf("\n%s:\n", title);
    for (size_t i = 0; i < n && i < ROWS; i++)
        printf("  %s\n", names[i]);
    print_rest(n, "node");
}

/* ---- waves */

/* The names in one tier and wave of the moves from `first` on. New reference. */
static json_t *plan_print_names_of(const json_t *moves, size_t first, const char *tier)
{
    json_t *names = json_array();
    int64_t wave = json_int(json_array_get(moves, first), "wave", 0);
    for (size_t i = first; i < json_array_size(moves); i++) {
        const json_t *move = json_array_get(moves, i);
        if (json_int(move, "wave", 0) != wave)
            break;
        if (str_eq(json_str(move, "tier"), tier))
            json_array_append(names, json_object_get(move, "node"));
    }
    return names;
}

/* Prints "driver of gpu-1, gpu-2; stack of gpu-9" and returns where the next wave begins. */
static size_t print_moves(const json_t *moves, size_t first)
{
    size_t printed = 0;
    for (enum tier t = 0; t < TIERS; t++) {
        CLEANUP_JSON json_t *names = plan_print_names_of(moves, first, tiers[t].name);
        if (!json_array_size(names))
            continue;
        printf("%s%s of ", printed ? "; " : "", tiers[t].name);
        print_in_a_row(names);
        printed += json_array_size(names);
    }
    printf("\n");
    return first + printed;
}

/* While the rollout waits for an admin, start times are unknown. */
static void print_waves(const json_t *plan)
{
    const json_t *moves = json_object_get(plan, "moves"), *waves = json_object_get(plan, "waves");
    bool timed = !json_str(plan, "held");
    size_t at = 0;
    if (json_int(plan, "underWay", 0)) {
        printf("\nunder way: ");
        at = print_moves(moves, 0);
    }
    if (json_array_size(waves))
        printf("\n");
    JSON_EACH_AT (i, wave, waves) {
        const char *begins = timed ? json_str(wave, "begins") : NULL,
                   *earliest = timed ? json_str(wave, "notBefore") : NULL;
        if (i == ROWS)
            break;
        printf("wave %zu%s%s%s: ", i + 1, json_bool(wave, "canary", false) ? " (canary)" : "",
               begins     ? ", begins "
               : earliest ? ", not before "
                          : "",
               str_or_empty(begins ? begins : earliest));
        at = print_moves(moves, at);
    }
    print_rest(json_array_size(waves), "wave");
}

static void print_leaving(const json_t *plan)
{
    size_t nodes = 0;
    JSON_EACH (move, json_object_get(plan, "moves")) {
        const json_t *pods = json_object_get(move, "pods");
        if (json_array_size(pods) == 0 || nodes++ >= ROWS)
            continue;
        printf("%s  %s: ", nodes == 1 ? "\nto be evicted:\n" : "", json_str_or_empty(move, "node"));
        print_in_a_row(pods);
        printf("\n");
    }
    print_rest(nodes, "node");
}

/* ---- nodes that stay, and blocking conditions */

/* Blocking conditions: lists of sentences by node. New reference. */
static json_t *blockers_by_node(const json_t *plan)
{
    json_t *by_node = json_object();
    JSON_EACH (b, json_object_get(plan, "blockers")) {
        const char *node = json_str_or_empty(b, "node");
        if (!json_object_get(by_node, node))
            json_object_set_new(by_node, node, json_array());
        json_array_append(json_object_get(by_node, node), json_object_get(b, "message"));
    }
    return by_node;
}

/* Nodes grouped by sentence, sorted by name within each group. New reference. */
static json_t *grouped(const json_t *names, const json_t *closed, const json_t *blockers)
{
    json_t *groups = json_object();
    CLEANUP_FREE const char **nodes = plan_print_sorted(names);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *sentences = json_object_get(blockers, nodes[i]);
        size_t k = 0;
        do {
            const char *sentence = str_or_empty(json_string_value(json_array_get(sentences, k)));
            CLEANUP_FREE char *key = xasprintf(
                "%s%s%s", json_has_text(closed, nodes[i]) ? "closed" : "",
                json_has_text(closed, nodes[i]) && *sentence ? "; " : "", sentence);
            if (!json_object_get(groups, key))
                json_object_set_new(groups, key, json_array());
            json_array_append_new(json_object_get(groups, key), json_string(nodes[i]));
        } while (++k < json_array_size(sentences));
    }
    return groups;
}

static void print_groups(const json_t *groups)
{
    size_t row = 0;
    JSON_EACH_MEMBER (sentence, names, groups) {
        if (row++ >= ROWS)
            continue;
        printf("  ");
        print_in_a_row(names);
        printf("%s%s\n", *sentence ? ": " : "", sentence);
    }
    print_rest(row, "row");
}

/* What happens to nodes that stay, by reason. */
static const struct {
    enum rollout_hold hold;
    const char *title;
} titles[] = {
    { ROLLOUT_HOLD_BACKOFF, "retried later" },
    { ROLLOUT_HOLD_JOBS,
      "tainted for new GPU pods, and upgraded when the running ones have ended" },
    { ROLLOUT_HOLD_DOWN, "down, and changed when they are back" },
    { ROLLOUT_HOLD_SKIPPED, "passed over" },
};

static const char *title_of(enum reason reason)
{
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        if (rollout_hold_reason(titles[i].hold) == reason)
            return titles[i].title;
    return "stay as they are";
}

/* Prints the blocking conditions of nodes that stay, and removes them from `blockers`. */
static void print_stays(const json_t *plan, json_t *blockers)
{
    JSON_EACH (stay, json_object_get(plan, "stay")) {
        const char *word = json_str_or_empty(stay, "reason");
        enum reason reason = reason_parse(word);
        const json_t *names = json_object_get(stay, "names");
        bool waits = reason == rollout_hold_reason(ROLLOUT_HOLD_JOBS);
        CLEANUP_JSON json_t *groups = grouped(names, waits ? NULL : json_object_get(stay, "closed"),
                                              blockers);
        printf("\n%s (%s):\n", title_of(reason), word);
        print_groups(groups);
        JSON_EACH (name, names)
            json_object_del(blockers, json_string_value(name));
    }
}

static void print_blockers(const json_t *blockers)
{
    CLEANUP_JSON json_t *names = json_array();
    JSON_EACH_MEMBER (node, sentences, blockers)
        json_array_append_new(names, json_string(node));
    CLEANUP_JSON json_t *groups = grouped(names, NULL, blockers);
    if (json_array_size(names))
        printf("\nblockers:\n");
    print_groups(groups);
}

/* ---- summary */

/* Prints the plan's sentence, one line per part. */
static void print_message(const char *message)
{
    while (*message) {
        const char *end = strstr(message, "; ");
        size_t n = end ? (size_t) (end - message) : strlen(message);
        printf("  %.*s\n", (int) n, message);
        message += n + (end ? strlen("; ") : 0);
    }
}

static void print_pool(const json_t *pool)
{
    static const char *const words[TIERS] = {
        [TIER_DRIVER] = "another driver", [TIER_STACK] = "another toolkit and device plugin alone"
    };
    const char *before = "";
    printf("pool %s: ", json_str_or_empty(pool, "name"));
    for (enum tier t = 0; t < TIERS; t++) {
        long long nodes = (long long) json_int(pool, tiers[t].name, 0);
        if (!nodes)
            continue;
        printf("%s%lld node%s %s", before, nodes, nodes == 1 ? " gets" : "s get", words[t]);
        before = ", ";
    }
    printf("\n");
}

/* What an admin must do before the rollout begins. A policy from a file cannot be approved
 * before it is applied. */
static void print_held(const json_t *plan, bool of_file)
{
    if (reason_parse(json_str(plan, "held")) == rollout_hold_reason(ROLLOUT_HOLD_PAUSED))
        printf("does not begin while spec.rollout.paused is true\n");
    if (json_bool(plan, "approvalMissing", false))
        printf("%s: kubectl annotate gpuclusterpolicy " POLICY_NAME " " POLICY_APPROVED
               "=%s --overwrite\n",
               of_file ? "waits for approval; after you applied the file, approve with"
                       : "waits for approval",
               json_str_or_empty(plan, "hash"));
}

static void print_failures(const json_t *failures)
{
    JSON_EACH (f, failures) {
        const char *hash = json_str_or_empty(f, "revision"),
                   *version = json_str_or_empty(f, "version");
        printf("%s: %s revision %s%s%s%s failed in pool %s, first on node %s at %s: %s\n",
               reason_text(rollout_hold_reason(ROLLOUT_HOLD_FAILED)), json_str_or_empty(f, "tier"),
               hash, *version ? " (" : "", version, *version ? ")" : "",
               json_str_or_empty(f, "pool"), json_str_or_empty(f, "node"),
               json_str_or_empty(f, "at"), json_str_or_empty(f, "reason"));
        printf("  no other node of this pool gets it; change the policy, or retry the "
               "revision: " POLICY_RETRY_COMMAND "\n",
               json_str_or_empty(f, "retry"));
    }
}

static void print_plan(const json_t *plan, bool of_file)
{
    printf("plan %s, made at %s\n", json_str_or_empty(plan, "hash"),
           json_str_or_empty(plan, "madeAt"));
    print_message(json_str_or_empty(plan, "message"));
    JSON_EACH (pool, json_object_get(plan, "pools"))
        print_pool(pool);
    print_held(plan, of_file);
    print_waves(plan);
    print_leaving(plan);
    CLEANUP_JSON json_t *blockers = blockers_by_node(plan);
    print_stays(plan, blockers);
    print_blockers(blockers);
}

/* Repairs share the budgets of the rollout, and are in no wave. */
static void print_repairs(const json_t *repairs)
{
    size_t n = json_array_size(repairs);
    if (n)
        printf("\nto be repaired:\n");
    for (size_t i = 0; i < n && i < ROWS; i++) {
        const json_t *r = json_array_get(repairs, i);
        printf("  %s: %s: %s, %s\n", json_str_or_empty(r, "node"), json_str_or_empty(r, "why"),
               json_str_or_empty(r, "does"), json_str_or_empty(r, "when"));
    }
    print_rest(n, "node");
}

static void print_no_gpu(long long nodes)
{
    if (nodes)
        printf("\n%lld node%s no GPU, and %s left out. A node shows one by a label of NFD, by GPUs "
               "that its kubelet offers, or by the report of Ostler's agent, which comes with the "
               "first policy\n",
               nodes, nodes == 1 ? " shows" : "s show", nodes == 1 ? "is" : "are");
}

void plan_print_others(const json_t *whole)
{
    print_rows("gets its first driver and stack, outside the rollout",
               json_object_get(whole, "first"));
    print_rows("has a GPU and is not served", json_object_get(whole, "notServed"));
    print_no_gpu((long long) json_int(whole, "noGpu", 0));
}

/* No node that has a stack of Ostler's changes. */
static void print_no_plan(const json_t *whole)
{
    bool first = json_array_size(json_object_get(whole, "first")) > 0,
         repairs = json_array_size(json_object_get(whole, "repairs")) > 0;
    printf("%severy %snode that Ostler serves runs what the policy says\n",
           first || repairs ? "" : "nothing to do: ", first ? "other " : "");
}

void plan_print(const json_t *whole)
{
    const json_t *plan = json_object_get(whole, "plan"), *failed = json_object_get(whole, "failed"),
                 *repairs = json_object_get(whole, "repairs");
    print_failures(failed);
    if (json_is_object(plan))
        print_plan(plan, json_bool(whole, "ofFile", false));
    else if (json_array_size(failed) == 0)
        print_no_plan(whole);
    print_repairs(repairs);
    plan_print_others(whole);
}
