/* A right is missing: nothing hangs or crashes, Ostler says which right it is, and does what does
 * not need it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/sweep.h"

enum { VERB_MAX = 32, RIGHTS_MAX = 128 };

/* One right of Ostler's: a row of kube/resource.h taken apart. */
struct right {
    char verb[VERB_MAX];
    char resource[128]; /* "apps/daemonsets", "ostler.dev/gpuclusterpolicies/status" */
};

struct rights_case {
    const struct right *right;
    bool named;
};

static void add_rights(struct right *rights, size_t *n, const struct resource *r, const char *verbs,
                       const char *subresource)
{
    for (const char *at = verbs; *at;) {
        size_t len = strcspn(at, ",");
        snprintf(rights[*n].verb, VERB_MAX, "%.*s", (int) len, at);
        snprintf(rights[*n].resource, sizeof rights[*n].resource, "%s/%s%s%s", r->group, r->plural,
                 *subresource ? "/" : "", subresource);
        ++*n;
        at += len + (at[len] == ',');
    }
}

/* The verb on each of them. */
static void add_subresources(struct right *rights, size_t *n, const struct resource *r)
{
    CLEANUP_FREE char *names = xstrdup(r->subresources), *verbs = xstrdup(r->subresource_verbs);
    for (char *name, *verb, *rest = names, *their = verbs;
         (name = strsep(&rest, ",")) && (verb = strsep(&their, ",")) && *name;)
        add_rights(rights, n, r, verb, name);
}

static size_t all_rights(struct right *rights)
{
    size_t n = 0;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        const struct resource *r = resource_get((enum resource_id) i);
        add_rights(rights, &n, r, r->verbs, "");
        add_subresources(rights, &n, r);
    }
    return n;
}

/* Whether a sentence names the right, as the API server does: `cannot list resource "nodes" in API
 * group …`. */
static bool names(const char *sentence, const struct right *right)
{
    const char *plural = strchr(right->resource, '/') + 1;
    CLEANUP_FREE char *resource = xasprintf("\"%s\"", plural);
    return sentence && strstr(sentence, right->verb) && strstr(sentence, resource);
}

/* Rights that Ostler does without, and why it need not say so. */
static const struct {
    const char *verb, *resource;
} silent[] = {
    /* who asks for no monitors need not grant it */
    { "list", "monitoring.coreos.com/servicemonitors" },
    /* the same as where there is no such resource: Ostler works without */
    { "list", "ostler.dev/gpunodes" },
    { "list", "resource.k8s.io/resourceslices" }, /* as where there is no such resource */
    /* who was refused asks again from time to time */
    { "list", "policy/poddisruptionbudgets" },
    { "watch", "policy/poddisruptionbudgets" },
    /* a courtesy: what is not written is counted in a metric */
    { "create", "events.k8s.io/events" },
    { "patch", "events.k8s.io/events" },
    { "get", "/pods/log" }, /* a courtesy too */
};

static bool is_silent(const struct right *right)
{
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        if (strcmp(silent[i].verb, right->verb) == 0 &&
            strcmp(silent[i].resource, right->resource) == 0)
            return true;
    return false;
}

/* Objects that Ostler makes and that do not wait for each other: one kind that may not be written
 * keeps no other away. Where Ostler may not create the agents, no client reports a GPU, and Ostler
 * creates nothing. The exporter's service comes with the first node that has a stack, and a
 * pool's first toolkit waits for a driver, so that without DaemonSets there is none. */
static void check_others(struct run *r, const struct right *right)
{
    static const char *const kinds[] = { "daemonsets", "services", "runtimeclasses" };
    const char *plural = strchr(right->resource, '/') + 1;
    bool child = false;
    if (api_count(r->api, kind_named("gpunodes")) == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        child |= str_eq(kinds[i], plural);
    for (size_t i = 0; child && i < ARRAY_LEN(kinds); i++) {
        bool follows = str_eq(kinds[i], "services") && str_eq(plural, "daemonsets");
        if (!str_eq(kinds[i], plural) && !follows && api_count(r->api, kind_named(kinds[i])) == 0)
            run_finding(r, "without the right to %s %s there are no %s", right->verb,
                        right->resource, kinds[i]);
    }
}

static void on_rights_quiet(struct run *r)
{
    struct rights_case *c = r->plan->arg;
    if (r->phase == 0 && (str_eq(c->right->verb, "create") || str_eq(c->right->verb, "patch")))
        check_others(r, c->right);
    struct engine *engine = (struct engine *) process_engine(r->ostlers[0]);
    CLEANUP_FREE char *watches = engine ? engine_why_watches_fail(engine) : NULL;
    CLEANUP_FREE char *lease = engine ? engine_why_lease_fails(engine) : NULL;
    CLEANUP_FREE char *writes = engine ? engine_why_writes_fail(engine) : NULL;
    CLEANUP_FREE char *prerequisites = engine ? engine_why_prerequisites_fail(engine) : NULL;
    const json_t *policy = api_get(r->api, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME);
    CLEANUP_FREE char *status = policy ? json_compact(json_at(policy, "status")) : NULL;
    /* In JSON quotes are escaped. */
    CLEANUP_BUF struct buf plain = BUF_INIT(1 << 20);
    for (const char *s = str_or_empty(status); *s; s++)
        if (*s != '\\')
            buf_printf(&plain, "%c", *s);
    c->named |= names(watches, c->right) || names(lease, c->right) || names(writes, c->right) ||
                names(prerequisites, c->right) || names(buf_text(&plain), c->right);
    if (!is_silent(c->right) && r->phase + 1 == r->life->phases &&
        wire_counts(r->wire)->forbidden && !c->named)
        run_finding(r, "%s %s is refused %llu times, and nothing says so", c->right->verb,
                    c->right->resource, (unsigned long long) wire_counts(r->wire)->forbidden);
}

size_t rights_cases(const struct sweep_env *env)
{
    (void) env;
    struct right rights[RIGHTS_MAX];
    return all_rights(rights);
}

size_t rights_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct right rights[RIGHTS_MAX];
    all_rights(rights);
    struct rights_case c = { .right = &rights[index] }, fresh = c;
    char what[256];
    snprintf(what, sizeof what, "without the right to %s %s", c.right->verb, c.right->resource);
    struct run_plan plan = { .seed = 1,
                             .deny_verb = c.right->verb,
                             .deny_resource = c.right->resource,
                             .on_quiet = on_rights_quiet,
                             .arg = &c,
                             .fresh = &fresh,
                             .arg_size = sizeof c };
    return sweep_live(env, &plan, false, what, counts, out);
}
