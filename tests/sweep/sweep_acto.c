/* Every field of the policy changed through valid, boundary and invalid values and back, from every
 * phase of a small life. The API server's answer is what the schema says; a refusal leaves
 * everything as it was; what is accepted is acted on or said to be wrong; and when the policy is as
 * it was before, so is the cluster, except for what sweep_acto_held.h says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/policy.h"
#include "sim/api/builtin.h"
#include "sim/api/refusal.h"
#include "tests/sweep/sweep.h"
#include "tests/sweep/sweep_acto_fields.h"
#include "tests/sweep/sweep_acto_held.h"
#include "tests/sweep/sweep_acto_values.h"

#define EDITOR "alice"

enum {
    PHASE_READY = 2, /* the phase in which all nodes are */
    /* of the life, from which fields are changed; what comes then is the end of the policy */
    PHASES = 5,
    /* a case takes every so-manieth value of each field, and one at least */
    SLICES = 32,
    PACES = 2, /* one goes back when all is at rest, or in the middle of things */
    CASES = PHASES * SLICES * PACES,
    QUIET_MS = 6 * 1000,
    HASTE_MS = 1500,
    /* to be again as before: what fails is tried again after five minutes */
    PATIENCE_MS = 20 * 60 * 1000,
    /* for one change of the policy: 71 when all nodes are let go, come back and are proven */
    WRITES_MAX = 90,
    SHOWN = 160, /* of a value, for people */
};

/* Which changes a case tries. Cases beyond CASES try a single one. */
struct acto_case {
    size_t phase, slice;
    bool hasty;
    size_t only; /* this change; SIZE_MAX: those of the slice */
    const struct acto_fields *fields;
};

/* One change, while it goes on. */
struct change {
    struct run *run;
    const struct acto_case *c;
    const struct acto_field *field;
    size_t field_index, number; /* of the field, and of the change among all */
    const struct acto_value *value;
    json_t *base;            /* the policy as it was */
    struct snapshot *before; /* and the cluster */
    struct acto_before was;
};

/* ---- words */

static char *value_text(const struct change *ch)
{
    char *text = json_dumps(ch->value->value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    if (strlen(text) > SHOWN)
        memcpy(text + SHOWN, "…", sizeof "…");
    return text;
}

static void finding(const struct change *ch, const char *fmt, ...) PRINTF(2, 3);
static void finding(const struct change *ch, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *why = xvasprintf(fmt, ap);
    va_end(ap);
    CLEANUP_FREE char *value = value_text(ch);
    run_finding(ch->run, "%s = %s: %s    alone: this sweep with --case %zu", ch->field->path, value,
                why, CASES + (ch->number * PHASES + ch->c->phase) * PACES + ch->c->hasty);
}

/* ---- the policy */

static const json_t *policy_now(const struct run *r)
{
    return api_get(r->api, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME);
}

/* Replaces the spec, as an editor does. */
static int put_spec(const struct run *r, const json_t *spec, struct refusal *refusal)
{
    const json_t *now = policy_now(r);
    if (!now)
        return refuse(refusal, 404, "the policy is gone");
    CLEANUP_JSON json_t *object = json_copy((json_t *) now);
    json_object_set(object, "spec", (json_t *) spec);
    return api_update(r->api, EDITOR, kind_named("gpuclusterpolicies"), "", object, refusal);
}

/* ---- letting time pass */

static void rest(struct run *r, int64_t quiet_ms)
{
    int64_t limit = r->changed_ms + PATIENCE_MS;
    while (r->sim.now_ms < r->changed_ms + quiet_ms && r->sim.now_ms < limit)
        sim_step(&r->sim, r->changed_ms + quiet_ms);
    if (r->sim.now_ms >= limit)
        run_finding(r, "the cluster does not come to rest");
}

/* ---- what must hold */

/* Whether a problem's field is the changed one, one above it, or one below. */
static bool is_about(const char *problem, const char *field)
{
    while (*problem && *field) {
        const char *a = problem, *b = field;
        if (*a == '[' && (*b == '[' || *b == '{')) {
            problem += strcspn(problem, "]") + 1;
            field += 2;
        } else if (*a == *b) {
            problem++;
            field++;
        } else {
            return false;
        }
    }
    return true;
}

/* What a policy that is not acted on says: that it is not, and which field is why. */
static void check_problems(const struct change *ch, const json_t *problems)
{
    size_t i;
    json_t *problem;
    bool named = false;
    json_array_foreach ((json_t *) problems, i, problem)
        named |= is_about(json_str_or_empty(problem, "field"), ch->field->path) &&
                 *json_str_or_empty(problem, "message");
    if (!named)
        finding(ch, "the problems name other fields: %s",
                json_str_or_empty(json_array_get(problems, 0), "field"));
}

static void check_status(const struct change *ch)
{
    const json_t *policy = policy_now(ch->run), *status = json_at(policy, "status");
    const json_t *problems = json_object_get(status, "problems");
    const json_t *ready = condition_find(json_object_get(status, "conditions"), "Ready");
    if (json_int(status, "observedGeneration", 0) != object_generation(policy))
        finding(ch, "the status is not about this generation");
    if (ready && (!*json_str_or_empty(ready, "reason") || !*json_str_or_empty(ready, "message")))
        finding(ch, "Ready gives no reason");
    if (str_eq(json_str(ready, "status"), "True") && json_array_size(problems))
        finding(ch, "Ready, with problems");
    if (json_array_size(problems))
        check_problems(ch, problems);
}

/* Fields, and values of fields, that need no word when nothing comes of them. */
static const struct {
    const char *path;  /* or of what is below it */
    const char *value; /* NULL: all */
} idle[] = {
    /* No node is meant, or every node is. */
    { "spec.nodes.selector.matchExpressions", NULL },
    { "spec.pools[].nodeSelector", NULL },
    { "spec.devicePlugin.config.name", NULL },
    /* Nodes have what they should. */
    { "spec.rollout.", NULL },
    /* They are open and proven. */
    { "spec.nodes.startupTaint.", NULL },
    { "spec.validation.", NULL },
    /* No GPU has a fault. */
    { "spec.health.", NULL },
    /* What Auto, the default, means on the nodes of this life. */
    { "spec.driver.source", "Container" },
    { "spec.nodeAgent.labels", "Ostler" },
    { "spec.toolkit.source", "Ostler" },
    /* It says whose network driver RDMA is with, and there is no RDMA. */
    { "spec.driver.rdma.useHostMofed", NULL },
    { "spec.pools[].driver.rdma.useHostMofed", NULL },
    /* It says which image GDRCopy has, and there is no GDRCopy. */
    { "spec.driver.gdrcopy.repository", NULL },
    { "spec.driver.gdrcopy.image", NULL },
    { "spec.driver.gdrcopy.version", NULL },
    { "spec.pools[].driver.gdrcopy.repository", NULL },
    { "spec.pools[].driver.gdrcopy.image", NULL },
    { "spec.pools[].driver.gdrcopy.version", NULL },
    { "spec.pools[].toolkit.source", "Ostler" },
    /* In the life without agents the program has no image to send any out from. */
    { "spec.nodeAgent.enabled", NULL },
    { "spec.nodeAgent.imagePull", NULL },
    { "spec.nodeAgent.seccompProfile", NULL },
};

static bool is_idle(const struct change *ch)
{
    const json_t *value = ch->value->value;
    for (size_t i = 0; i < ARRAY_LEN(idle); i++)
        if (str_has_prefix(ch->field->path, idle[i].path) &&
            (!idle[i].value || str_eq(idle[i].value, json_string_value(value))))
            return true;
    size_t unknown = json_object_get(value, ACTO_UNKNOWN) != NULL; /* the server leaves it out */
    return json_object_size(value) == unknown && json_array_size(value) == 0 &&
           (json_is_object(value) || json_is_array(value) || json_is_null(value));
}

/* Whether both policies mean the same once defaults are filled in. */
static bool means_the_same(const json_t *a, const json_t *b)
{
    struct policy x = { 0 }, y = { 0 };
    struct policy_problems problems = { 0 };
    bool valid =
        policy_decode(a, &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true },
                      &x, &problems) == 0 &&
        policy_decode(b, &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true },
                      &y, &problems) == 0;
    bool same = valid && json_equal(x.spec, y.spec);
    policy_clear(&x);
    policy_clear(&y);
    policy_problems_clear(&problems);
    return same;
}

/* Whether any object but the policy is another one than before. */
static bool others_changed(const struct snapshot *before, const struct snapshot *now)
{
    if (before->len != now->len)
        return true;
    for (size_t i = 0; i < now->len; i++)
        if (before->entries[i].hash != now->entries[i].hash &&
            !str_has_prefix(now->entries[i].key, "gpuclusterpolicies/"))
            return true;
    return false;
}

/* What people read in the status, without times and generations. New reference. */
static json_t *words_of(const json_t *policy)
{
    json_t *words = json_deep_copy(json_at(policy, "status")), *condition;
    size_t i;
    json_object_del(words, "observedGeneration");
    json_array_foreach (json_object_get(words, "conditions"), i, condition) {
        json_object_del(condition, "observedGeneration");
        json_object_del(condition, "lastTransitionTime");
    }
    return words;
}

/* What is accepted and means something else than before shows in the cluster, or in the status. */
static void check_effect(const struct change *ch)
{
    struct run *r = ch->run;
    const json_t *policy = policy_now(r);
    if (ch->c->phase != PHASE_READY || is_idle(ch) || means_the_same(ch->base, policy))
        return;
    struct snapshot now;
    CLEANUP_JSON json_t *was = words_of(ch->base), *is = words_of(policy);
    oracle_snapshot(r->oracle, r->api, false, &now);
    if (json_equal(was, is) && !others_changed(ch->before, &now))
        finding(ch, "nothing comes of it, and nothing says so");
    snapshot_clear(&now);
}

/* Changes the policy for a moment, if something stayed behind (sweep_acto_held.h). */
static bool let_go_between(const struct change *ch)
{
    struct run *r = ch->run;
    const json_t *base = json_object_get(ch->base, "spec");
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    CLEANUP_JSON json_t *between = acto_spec_between(r->api, &ch->was, base);
    if (!between)
        return false;
    if (put_spec(r, between, &refusal) < 0)
        finding(ch, "what stayed behind cannot be let go: %s", refusal.message);
    rest(r, RUN_QUIET_MS);
    if (put_spec(r, base, &refusal) < 0)
        finding(ch, "the way back is refused: %s", refusal.message);
    return true;
}

/* The cluster as it was before, sooner or later; when it never is, it is as it is from then on.
 * Whether something that stayed behind had to be let go for it. */
static bool check_restored(const struct change *ch)
{
    struct run *r = ch->run;
    int64_t limit = r->sim.now_ms + PATIENCE_MS;
    struct snapshot now;
    bool let_go = false;
    rest(r, QUIET_MS);
    oracle_snapshot(r->oracle, r->api, r->plan->keep_text, &now);
    while (!snapshot_same(ch->before, &now, NULL) && r->sim.now_ms < limit) {
        snapshot_clear(&now);
        let_go = let_go || let_go_between(ch);
        run_hold(r, r->sim.now_ms + 1);
        rest(r, RUN_QUIET_MS);
        oracle_snapshot(r->oracle, r->api, r->plan->keep_text, &now);
    }
    CLEANUP_BUF struct buf differences = BUF_INIT(1 << 20);
    if (!snapshot_same(ch->before, &now, &differences))
        finding(ch, "when the spec is as before, the cluster is not:\n%s", buf_text(&differences));
    snapshot_clear(ch->before);
    *ch->before = now;
    return let_go;
}

/* ---- one change */

static void on_refused(const struct change *ch, uint64_t rv, const struct refusal *refusal)
{
    struct run *r = ch->run;
    r->result->counts.refusals++;
    if (ch->value->want == ACTO_ACCEPTED)
        finding(ch, "refused: %s", refusal->message);
    if (refusal->code != 422 && refusal->code != 400)
        finding(ch, "refused with %d: %s", refusal->code, refusal->message);
    if (api_rv(r->api) != rv || policy_now(r) != ch->base)
        finding(ch, "refused, and something has changed");
}

static void on_accepted(const struct change *ch, struct rng *rng)
{
    struct run *r = ch->run;
    uint64_t writes = r->result->counts.writes;
    if (ch->value->want == ACTO_REFUSED)
        finding(ch, "accepted");
    if (object_generation(policy_now(r)) == object_generation(ch->base))
        return; /* the server read nothing new in it */
    if (ch->c->hasty) {
        sim_run_until(&r->sim, r->sim.now_ms + rng_between(rng, 0, HASTE_MS));
    } else {
        rest(r, QUIET_MS);
        check_status(ch);
        check_effect(ch);
    }
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    if (put_spec(r, json_object_get(ch->base, "spec"), &refusal) < 0)
        finding(ch, "the way back is refused: %s", refusal.message);
    bool twice = check_restored(ch);
    if (r->result->counts.writes - writes > (twice ? 2 * WRITES_MAX : WRITES_MAX))
        finding(ch, "%" PRIu64 " writes for one change and its taking back",
                r->result->counts.writes - writes);
}

static void try(struct change *ch)
{
    struct run *r = ch->run;
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    ch->base = json_incref((json_t *) policy_now(r));
    acto_before_read(r->api, &ch->was);
    CLEANUP_JSON json_t *spec = acto_spec(ch->field, json_object_get(ch->base, "spec"),
                                          ch->value->value);
    struct rng rng = rng_of(ch->number + 1);
    uint64_t rv = api_rv(r->api);
    bool accepted = put_spec(r, spec, &refusal) == 0;
    struct counts *counts = &r->result->counts;
    counts->operations++;
    field_set_add(&counts->changed_in[ch->c->phase], ch->field_index);
    field_set_add(accepted ? &counts->accepted : &counts->refused, ch->field_index);
    if (r->plan->verbose) {
        CLEANUP_FREE char *text = value_text(ch);
        printf("%8" PRId64 " acto %zu: %s = %s %s %s\n", r->sim.now_ms, ch->number, ch->field->path,
               text, accepted ? "accepted" : "refused", str_or_empty(refusal.message));
    }
    if (accepted)
        on_accepted(ch, &rng);
    else
        on_refused(ch, rv, &refusal);
    json_decref(ch->base);
    acto_before_clear(&ch->was);
}

/* ---- all of a case */

/* Of so many values of a field a slice takes every so-manieth, and at least one. */
static bool is_of_slice(const struct acto_case *c, size_t index, size_t n)
{
    return index % SLICES == c->slice || (n <= c->slice && index == c->slice % n);
}

static void on_acto_quiet(struct run *r)
{
    const struct acto_case *c = r->plan->arg;
    if (r->phase != c->phase)
        return;
    struct snapshot before;
    run_hold(r, r->sim.now_ms + PATIENCE_MS);
    rest(r, RUN_QUIET_MS);
    oracle_snapshot(r->oracle, r->api, r->plan->keep_text, &before);
    struct change ch = { .run = r, .c = c, .before = &before };
    r->result->counts.fields = c->fields->len;
    for (; ch.field_index < c->fields->len; ch.field_index++) {
        struct acto_values values;
        ch.field = c->fields->items[ch.field_index];
        acto_values_make(ch.field, &values);
        for (size_t i = 0; i < values.len && policy_now(r); i++, ch.number++) {
            ch.value = &values.items[i];
            if (c->only == SIZE_MAX ? is_of_slice(c, i, values.len) : c->only == ch.number)
                try(&ch);
        }
        acto_values_clear(&values);
    }
    if (!policy_now(r))
        run_finding(r, "the policy is gone");
    snapshot_clear(&before);
}

/* Prometheus' operator is there. */
static void on_acto_begin(struct run *r)
{
    CLEANUP_JSON json_t *definition = builtin_crd_of("servicemonitors");
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    if (api_create(r->api, EDITOR, kind_named("customresourcedefinitions"), definition, &refusal) <
        0)
        run_finding(r, "the world cannot be set up: %s", refusal.message);
}

/* Alone, each value of each field is one as well, with the number that a finding gives. */
size_t acto_cases(const struct sweep_env *env)
{
    struct acto_fields fields;
    size_t singles = 0;
    acto_fields_read(env->life->crds, &fields);
    for (size_t i = 0; env->single && i < fields.len; i++) {
        struct acto_values values;
        acto_values_make(fields.items[i], &values);
        singles += values.len * PHASES * PACES;
        acto_values_clear(&values);
    }
    acto_fields_clear(&fields);
    return CASES + singles;
}

size_t acto_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct acto_fields fields;
    acto_fields_read(env->life->crds, &fields);
    struct acto_case c = { .fields = &fields,
                           .only = index < CASES ? SIZE_MAX : (index - CASES) / PHASES / PACES };
    size_t rest_of = index < CASES ? index : index - CASES;
    if (index < CASES) {
        c.phase = index % PHASES;
        c.hasty = index / PHASES % PACES;
        c.slice = index / PHASES / PACES;
    } else {
        c.hasty = rest_of % PACES;
        c.phase = rest_of / PACES % PHASES;
    }
    char what[160];
    snprintf(what, sizeof what, "from phase %zu, slice %zu, going back %s", c.phase, c.slice,
             c.hasty ? "at once" : "at rest");
    struct run_plan plan = {
        .seed = 1, .on_begin = on_acto_begin, .on_quiet = on_acto_quiet, .arg = &c
    };
    size_t found = sweep_live(env, &plan, false, what, counts, out);
    acto_fields_clear(&fields);
    return found;
}
