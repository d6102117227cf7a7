#include "commands/offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node.h"
#include "reconcilers/decide/node_plan.h"
#include "reconcilers/decide/targets.h"

/* A common host, used if no node is given. */
static const char common_node[] =
    "{\"metadata\": {\"name\": \"example\"}, \"status\": {\"nodeInfo\": {\"osImage\": "
    "\"Ubuntu 24.04.1 LTS\", "
    "\"kernelVersion\": \"6.8.0-49-generic\", \"kubeletVersion\": \"v1.33.0\", "
    "\"containerRuntimeVersion\": \"containerd://2.1.4\", \"architecture\": \"amd64\"}}}";

/* The single document of a file; NULL with an error. */
static json_t *load_one(const char *path, struct yaml_lines **ret_lines, struct err *e)
{
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, ret_lines, e);
    if (!documents)
        return NULL;
    const char *name = yaml_file_name(path);
    size_t n = json_array_size(documents);
    if (n == 0)
        err_set(e, ERR_INVALID, "%s: is empty; it must hold one object", name);
    else if (n > 1)
        err_set(e, ERR_INVALID, "%s: holds %zu documents; it must hold one object", name, n);
    else if (!json_is_object(json_array_get(documents, 0)))
        err_set(e, ERR_INVALID,
                "%s: must be a map (an object of the API), not a list or a single value", name);
    else
        return json_incref(json_array_get(documents, 0));
    return NULL;
}

/* A problem and its position in the file. */
struct placed {
    int line;
    const struct policy_problem *problem;
};

static int by_line(const void *a, const void *b)
{
    return ((const struct placed *) a)->line - ((const struct placed *) b)->line;
}

static void print_problems(const char *file, const struct policy_problems *problems,
                           const struct yaml_lines *lines)
{
    CLEANUP_FREE struct placed *placed = xcalloc(problems->len, sizeof *placed);
    for (size_t i = 0; i < problems->len; i++)
        placed[i] = (struct placed){ yaml_line_of(lines, problems->items[i].field),
                                     &problems->items[i] };
    qsort(placed, problems->len, sizeof *placed, by_line);
    for (size_t i = 0; i < problems->len; i++)
        fprintf(stderr, "%s:%d: %s: %s\n", file, placed[i].line, placed[i].problem->field,
                placed[i].problem->message);
    if (problems->omitted)
        fprintf(stderr, "%s: and %zu more\n", file, problems->omitted);
}

/* Checks what the API server checks for an object: missing or unknown top-level fields. Returns
 * whether it is valid. */
static bool check_envelope(const char *file, const json_t *object, const struct yaml_lines *lines)
{
    static const struct {
        const char *key, *value; /* NULL: any */
        bool needed;
    } members[] = { { "apiVersion", POLICY_API_VERSION, true },
                    { "kind", POLICY_KIND, true },
                    { "metadata", NULL, true },
                    { "spec", NULL, false },
                    { "status", NULL, false } };
    bool ok = true;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (!members[i].needed || json_object_get(object, members[i].key))
            continue;
        fprintf(stderr, "%s:1: %s: is missing%s%s\n", file, members[i].key,
                members[i].value ? "; write " : "", str_or_empty(members[i].value));
        ok = false;
    }
    JSON_EACH_MEMBER (key, value, object) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            known |= str_eq(members[i].key, key);
        if (!known)
            fprintf(stderr, "%s:%d: %s: is not a field of a GpuClusterPolicy\n", file,
                    yaml_line_of(lines, key), key);
        ok &= known;
    }
    return ok;
}

/* The object of NVIDIA's operator. No field has quite the same meaning here, so the message says
 * what to do instead of listing unknown fields. */
static bool is_of_nvidia(const char *file, const json_t *object)
{
    static const char group[] = NVIDIA_PREFIX;
    if (!str_eq(json_str(object, "kind"), "ClusterPolicy") ||
        strncmp(json_str_or_empty(object, "apiVersion"), group, sizeof group - 1) != 0)
        return false;
    fprintf(stderr,
            "%s: is a ClusterPolicy of NVIDIA's GPU operator, which Ostler does not read. Write "
            "a " POLICY_KIND " instead:\n"
            "  apiVersion: " POLICY_API_VERSION "\n  kind: " POLICY_KIND
            "\n  metadata: {name: " POLICY_NAME "}\n  spec: {}\n"
            "Every field of its spec has a default; docs/policy.md has all, such as "
            "driver.version. Nodes that NVIDIA's operator "
            "serves\n"
            "stay with it (state ForeignStack) until they are handed over: see docs/reasons.md.\n",
            file);
    return true;
}

bool offline_policy(const struct options *o, struct policy *ret, json_t **ret_object)
{
    CLEANUP_ERR struct err e = { 0 };
    struct yaml_lines *lines = NULL;
    CLEANUP_JSON json_t *object = load_one(o->file, &lines, &e);
    struct policy_problems problems = { 0 };
    bool ok = false;
    if (!object)
        fprintf(stderr, "%s: %s\n", o->called, err_msg(&e));
    const char *name = yaml_file_name(o->file);
    if (object && !is_of_nvidia(name, object)) {
        ok = policy_decode(object, &o->limits, ret, &problems) == 0;
        ok &= check_envelope(name, object, lines);
    }
    print_problems(name, &problems, lines);
    policy_problems_clear(&problems);
    yaml_lines_free(lines);
    if (object && ret_object)
        *ret_object = json_incref(object);
    return ok;
}

int offline_validate(const struct options *o)
{
    struct policy policy = { 0 };
    bool ok = offline_policy(o, &policy, NULL);
    if (ok)
        printf("%s: valid\n", yaml_file_name(o->file));
    policy_clear(&policy);
    return ok ? 0 : 1;
}

/* The state of one rendering. */
struct offline {
    const struct options *o;
    struct policy policy;
    struct manifests *manifests;
    struct targets *targets;
    json_t *printed; /* set of printed objects: pools may share revisions */
    struct err e;
};

static void print_object(struct offline *f, json_t *object_steal)
{
    CLEANUP_JSON json_t *object = object_steal;
    if (!object)
        return;
    CLEANUP_FREE char *key = xasprintf("%s/%s", json_str_or_empty(object, "kind"),
                                       object_name(object));
    if (json_object_get(f->printed, key))
        return;
    json_object_set_new(f->printed, key, json_true());
    /* ownerReferences need the policy's uid, which only a policy on a server has. */
    if (!f->policy.uid || !*f->policy.uid)
        json_object_del(json_at(object, "metadata"), "ownerReferences");
    CLEANUP_FREE char *text = yaml_dump(object);
    printf("---\n%s", text);
}

static struct render_context context(const struct offline *f, const json_t *spec,
                                     const json_t *inputs, const char *hash)
{
    return (struct render_context){ .operand_namespace = f->o->operand_namespace,
                                    .policy_uid = f->policy.uid ? f->policy.uid : "",
                                    .spec = spec,
                                    .inputs = inputs,
                                    .hash = hash,
                                    .agent_image = f->o->agent_image,
                                    .keep_off_control_plane = !f->o->limits.control_plane };
}

static void print_rendered(struct offline *f, enum render_object what,
                           const struct render_context *ctx)
{
    print_object(f, render_object(f->manifests, what, ctx, &f->e));
}

/* Prints a tier's revision and its operands; nothing if the tier has none. */
static void print_revision(struct offline *f, const struct target *t, const json_t *inputs,
                           const char *hash)
{
    struct render_context ctx = context(f, targets_spec(f->targets, t->pool), inputs, hash);
    if (!inputs)
        return;
    print_object(f, render_revision(&ctx));
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (operand_is_in(o, inputs))
            print_rendered(f, render_daemonset(o->id), &ctx);
}

static void print_agent(struct offline *f)
{
    if (!f->o->agent_image || !json_bool(f->policy.spec, "nodeAgent.enabled", true))
        return;
    CLEANUP_JSON json_t *inputs = agent_inputs(f->policy.spec);
    struct render_context ctx = context(f, f->policy.spec, inputs, NULL);
    print_rendered(f, RENDER_AGENT, &ctx);
}

/* Prints an object of a follower's. Only one kind of host needs its further DaemonSet. */
static void print_other(struct offline *f, const struct render_other *r,
                        const struct render_context *ctx, const json_t *stack)
{
    if (r->resource != RESOURCE_DAEMONSET) {
        print_rendered(f, r->what, ctx);
    } else if (stack_has_default_runtime(stack)) {
        CLEANUP_JSON json_t *inputs = follower_inputs_of_default_runtime(operand_get(r->operand),
                                                                         ctx->inputs);
        struct render_context own = context(f, f->policy.spec, inputs, NULL);
        print_rendered(f, r->what, &own);
    }
}

/* Prints a follower and its related objects. `stack`: inputs of the host's stack; NULL: none. */
static void print_follower(struct offline *f, const struct operand_row *o,
                           const struct node_facts *facts, const json_t *stack)
{
    struct host host = host_of(facts);
    CLEANUP_JSON json_t *inputs = follower_inputs(o, f->policy.spec, &host, NULL, 0);
    struct render_context ctx = context(f, f->policy.spec, inputs, NULL);
    print_rendered(f, render_daemonset(o->id), &ctx);
    for (const struct render_other *r = render_others; r->name; r++)
        if (r->operand == o->id && render_is_wished(r, f->policy.spec))
            print_other(f, r, &ctx, stack);
}

static void print_followers(struct offline *f, size_t pool, const struct node_facts *facts)
{
    const struct target *t = targets_for(f->targets, pool, facts, false);
    struct render_context ctx = context(f, f->policy.spec, NULL, NULL);
    print_rendered(f, RENDER_RUNTIME_CLASS, &ctx);
    print_agent(f);
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->class == OPERAND_CLASS_FOLLOWER && policy_runs(&f->policy, o->id))
            print_follower(f, o, facts, t->inputs[TIER_STACK]);
}

/* An empty text replaces every ConfigMap, which offline commands cannot read. */
static const char *empty_config(void *arg, const char *name, const char *key)
{
    (void) arg;
    fprintf(stderr, "note: the content of key %s of ConfigMap %s is not known offline\n", key,
            name);
    return "";
}

static void print_for(struct offline *f, size_t pool, const struct node_facts *facts)
{
    const struct target *t = targets_for(f->targets, pool, facts, false);
    printf("# pool %s: driver from %s\n", f->policy.pools[pool].name,
           t->source ? driver_source_name(t->source) : "nowhere");
    if (t->problem)
        fprintf(stderr, "note: pool %s: %s\n", f->policy.pools[pool].name, t->problem);
    for (enum tier tier = 0; tier < TIERS; tier++)
        print_revision(f, t, t->inputs[tier], t->runs.hash[tier]);
}

static void print_patch(const char *body)
{
    CLEANUP_JSON json_t *patch = json_parse(body, strlen(body), NULL);
    CLEANUP_FREE char *text = yaml_dump(patch);
    for (const char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
        printf("#   %.*s\n", (int) strcspn(line, "\n"), line);
}

/* Offline, every target revision counts as recorded. */
static const json_t *target_record(void *arg, enum tier tier, const char *hash)
{
    const struct offline *f = arg;
    size_t pool;
    return targets_inputs(f->targets, tiers[tier].name, hash, &pool);
}

/* Why Ostler puts nothing on a node. */
static const char *why_nothing(const struct offline *f, const struct node_view *view,
                               const struct node_verdict *v)
{
    if (!v->gpu)
        return "nothing says that it has a GPU";
    if (!selector_matches(&f->policy.nodes, node_label, view))
        return "spec.nodes.selector does not select it";
    return "a label tells Ostler to leave it alone";
}

/* Decides on the node like the operator and prints its patch. Returns whether operands run
 * there. */
static bool print_decision(struct offline *f, const struct node_view *view)
{
    const struct node_pods no_pods = { 0 };
    struct rollout_spec rollout;
    rollout_spec_decode(f->policy.spec, &rollout);
    struct health_spec health;
    health_spec_decode(f->policy.spec, f->o->limits.repairs, &health);
    struct node_input in = { .view = *view,
                             .pods = &no_pods,
                             .mode = MODE_MANAGE,
                             .may_mark = true,
                             .policy = &f->policy,
                             .rollout = &rollout,
                             .health_spec = &health,
                             .targets = f->targets,
                             .record = target_record,
                             .arg = f };
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct node_verdict v;
    node_plan(&in, &a, &v, &actions);
    const char *name = view->node->head.key;
    if (v.state == NODE_UNMANAGED)
        printf("# node %s gets nothing: %s\n", name, why_nothing(f, view, &v));
    else if (v.state == NODE_FOREIGN || v.state == NODE_UNSUPPORTED || v.state == NODE_REMOVING)
        printf("# %s: %s\n", node_state_name(v.state), v.message);
    if (actions.len)
        printf("# patch of node %s\n", name);
    else if (v.state != NODE_UNMANAGED)
        printf("# node %s has its labels and annotations already\n", name);
    for (size_t i = 0; i < actions.len; i++)
        print_patch(actions.items[i].request.body);
    return !assignment_is_empty(assignment_ref(&v.carried));
}

static void render_for_node(struct offline *f, const struct node_view *view,
                            const struct node_facts *facts)
{
    if (!print_decision(f, view))
        return;
    size_t pool = policy_pool_of(&f->policy, node_label, view);
    print_for(f, pool, facts);
    print_followers(f, pool, facts);
}

static void render_for_common_host(struct offline *f, const struct node_facts *facts)
{
    printf("# no --node given: for a host with Ubuntu 24.04 and containerd\n");
    for (size_t i = 0; i < f->policy.pools_len; i++)
        print_for(f, i, facts);
    print_followers(f, 0, facts);
}

static int render_all(struct offline *f, const json_t *node_object)
{
    struct intern *strings = intern_new();
    struct node *node = node_project(strings, node_object);
    struct node_view view = { node, strings, NULL };
    struct node_facts facts = node_facts(&view);
    struct target_sources sources = { .config_text = empty_config,
                                      .control_plane = f->o->limits.control_plane };
    f->targets = targets_new(&f->policy, &sources);
    if (f->o->node_file)
        render_for_node(f, &view, &facts);
    else
        render_for_common_host(f, &facts);
    targets_free(f->targets);
    node_free(strings, node);
    intern_free(strings);
    if (f->e.kind != ERR_NONE)
        fprintf(stderr, "ostler: %s\n", err_msg(&f->e));
    return f->e.kind == ERR_NONE ? 0 : 1;
}

/* The node for which to render; NULL with an error. */
static json_t *load_node(const struct options *o, struct err *e)
{
    if (!o->node_file)
        return json_parse(common_node, strlen(common_node), e);
    CLEANUP_JSON json_t *node = load_one(o->node_file, NULL, e);
    if (!node)
        return NULL;
    if (!str_eq(json_str(node, "kind"), "Node")) {
        err_set(e, ERR_INVALID, "%s: kind: must be \"Node\", not \"%s\"",
                yaml_file_name(o->node_file), json_str_or_empty(node, "kind"));
        return NULL;
    }
    return json_incref(node);
}

int offline_render(const struct options *o)
{
    struct offline f = { .o = o };
    if (!offline_policy(o, &f.policy, NULL))
        return 1;
    int rc = 1;
    CLEANUP_JSON json_t *node = load_node(o, &f.e);
    f.manifests = node ? manifests_new(&f.e) : NULL;
    f.printed = json_object();
    if (f.manifests)
        rc = render_all(&f, node);
    else
        fprintf(stderr, "ostler: %s\n", err_msg(&f.e));
    json_decref(f.printed);
    manifests_free(f.manifests);
    policy_clear(&f.policy);
    err_clear(&f.e);
    return rc;
}
