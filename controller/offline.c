#include "offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node.h"
#include "reconcilers/plan/marks.h"
#include "reconcilers/plan/targets.h"

/* A host as most clusters have it, where no node is given. */
static const char common_node[] = "{\"metadata\": {\"name\": \"example\"}, \"status\": {\"nodeInfo\": {\"osImage\": \"Ubuntu 24.04.1 LTS\", "
                                  "\"kernelVersion\": \"6.8.0-49-generic\", \"kubeletVersion\": \"v1.33.0\", "
                                  "\"containerRuntimeVersion\": \"containerd://2.1.4\", \"architecture\": \"amd64\"}}}";

/* The one document of a file; NULL with an error. */
static json_t *load_one(const char *path, struct yaml_lines **ret_lines, struct err *e)
{
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, ret_lines, e);
    if (!documents)
        return NULL;
    if (json_array_size(documents) != 1) {
        err_set(e, ERR_INVALID, "%s: want one document, found %zu", path, json_array_size(documents));
        return NULL;
    }
    return json_incref(json_array_get(documents, 0));
}

static void print_problems(const char *file, const struct policy_problems *problems, const struct yaml_lines *lines)
{
    for (size_t i = 0; i < problems->len; i++) {
        const struct policy_problem *p = &problems->items[i];
        fprintf(stderr, "%s:%d: %s: %s\n", file, yaml_line_of(lines, p->field), p->field, p->message);
    }
    if (problems->omitted)
        fprintf(stderr, "%s: and %zu more\n", file, problems->omitted);
}

/* The policy of a file, decoded and checked; false after saying what is wrong. */
static bool load_policy(const struct options *o, struct policy *ret)
{
    CLEANUP_ERR struct err e = { 0 };
    struct yaml_lines *lines = NULL;
    CLEANUP_JSON json_t *object = load_one(o->file, &lines, &e);
    struct policy_problems problems = { 0 };
    bool ok = false;
    if (!object)
        fprintf(stderr, "ostler: %s\n", err_msg(&e));
    else
        ok = policy_decode(object, ret, &problems) == 0 && policy_check_images(ret, o->image_prefixes, &problems) == 0;
    print_problems(o->file, &problems, lines);
    policy_problems_clear(&problems);
    yaml_lines_free(lines);
    return ok;
}

int offline_validate(const struct options *o)
{
    struct policy policy = { 0 };
    bool ok = load_policy(o, &policy);
    if (ok) {
        CLEANUP_JSON json_t *not_yet = policy_not_yet(&policy);
        size_t i;
        json_t *path;
        printf("%s: valid\n", o->file);
        json_array_foreach (not_yet, i, path)
            printf("%s: note: %s is accepted and not yet acted on\n", o->file, json_string_value(path));
    }
    policy_clear(&policy);
    return ok ? 0 : 1;
}

/* One rendering on its way. */
struct offline {
    const struct options *o;
    struct policy policy;
    struct manifests *manifests;
    struct targets *targets;
    json_t *printed; /* set of what has been printed: pools may share revisions */
    struct err e;
};

static void print_object(struct offline *f, json_t *object_steal)
{
    CLEANUP_JSON json_t *object = object_steal;
    if (!object)
        return;
    CLEANUP_FREE char *key = xasprintf("%s/%s", json_str_or_empty(object, "kind"), object_name(object));
    if (json_object_get(f->printed, key))
        return;
    json_object_set_new(f->printed, key, json_true());
    /* The owner is known by its uid, which only a policy that is on a server has. */
    if (!f->policy.uid || !*f->policy.uid)
        json_object_del(json_at(object, "metadata"), "ownerReferences");
    CLEANUP_FREE char *text = yaml_dump(object);
    printf("---\n%s", text);
}

static struct render_context context(const struct offline *f, const json_t *spec, const json_t *inputs, const char *hash)
{
    return (struct render_context){ .operand_namespace = f->o->operand_namespace, .policy_name = POLICY_NAME,
                                    .policy_uid = f->policy.uid ? f->policy.uid : "", .spec = spec, .inputs = inputs, .hash = hash };
}

static void print_rendered(struct offline *f, enum render_object what, const struct render_context *ctx)
{
    print_object(f, render_object(f->manifests, what, ctx, &f->e));
}

static void print_revisions(struct offline *f, const struct target *t)
{
    const json_t *spec = targets_spec(f->targets, t->pool);
    if (t->driver_inputs) {
        struct render_context ctx = context(f, spec, t->driver_inputs, t->driver);
        print_object(f, render_revision(&ctx));
        print_rendered(f, RENDER_DRIVER, &ctx);
    }
    if (t->stack_inputs) {
        struct render_context ctx = context(f, spec, t->stack_inputs, t->stack);
        print_object(f, render_revision(&ctx));
        if (json_bool(t->stack_inputs, "toolkit.enabled", false))
            print_rendered(f, RENDER_TOOLKIT, &ctx);
        if (json_bool(t->stack_inputs, "devicePlugin.enabled", false))
            print_rendered(f, RENDER_DEVICE_PLUGIN, &ctx);
    }
}

static void print_followers(struct offline *f, const struct node_facts *facts)
{
    const json_t *spec = f->policy.spec;
    struct host host = host_of(facts);
    struct render_context ctx = context(f, spec, NULL, NULL);
    print_rendered(f, RENDER_RUNTIME_CLASS, &ctx);
    if (!json_bool(spec, "exporter.enabled", true))
        return;
    CLEANUP_JSON json_t *inputs = exporter_inputs(spec, &host, NULL);
    ctx.inputs = inputs;
    print_rendered(f, RENDER_EXPORTER, &ctx);
    print_rendered(f, RENDER_EXPORTER_SERVICE, &ctx);
    if (json_bool(spec, "exporter.serviceMonitor.enabled", false))
        print_rendered(f, RENDER_EXPORTER_MONITOR, &ctx);
}

static const json_t *nothing_held(void *arg, const char *pool, const char *tier)
{
    (void) arg, (void) pool, (void) tier;
    return NULL;
}

/* Offline no ConfigMap can be read; an empty text stands for it. */
static const char *empty_config(void *arg, const char *name, const char *key)
{
    (void) arg;
    fprintf(stderr, "note: the content of key %s of ConfigMap %s is not known offline\n", key, name);
    return "";
}

static void print_for(struct offline *f, size_t pool, const struct node_facts *facts)
{
    const struct target *t = targets_for(f->targets, pool, facts, false);
    printf("# pool %s: driver from %s\n", f->policy.pools[pool].name, t->source ? driver_source_name(t->source) : "nowhere");
    if (t->problem)
        fprintf(stderr, "note: pool %s: %s\n", f->policy.pools[pool].name, t->problem);
    print_revisions(f, t);
}

/* What the node gets, as the patch that Ostler would send. */
static void print_marks(const struct offline *f, const struct node_view *view, size_t pool)
{
    struct node_facts facts = node_facts(view);
    const struct target *t = targets_for(f->targets, pool, &facts, false);
    CLEANUP_JSON json_t *labels = json_pack("{s:s}", LABEL_GPU_PRESENT, "true");
    json_object_update(labels, (json_t *) f->policy.node_labels);
    json_object_update(labels, (json_t *) f->policy.pools[pool].node_labels);
    struct marks wanted = { .labels = labels, .taint = f->policy.taint.enabled ? &f->policy.taint : NULL, .driver = t->driver,
                            .stack = t->stack };
    CLEANUP_JSON json_t *patch = marks_patch(view, &wanted);
    if (!patch)
        return;
    CLEANUP_FREE char *text = yaml_dump(patch);
    printf("# patch of node %s\n", view->node->head.key);
    for (const char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
        printf("#   %.*s\n", (int) strcspn(line, "\n"), line);
}

static int render_all(struct offline *f, const json_t *node_object)
{
    struct intern *strings = intern_new();
    struct node *node = node_project(strings, node_object);
    struct node_view view = { node, strings };
    struct node_facts facts = node_facts(&view);
    struct target_sources sources = { nothing_held, empty_config, NULL };
    f->targets = targets_new(&f->policy, &sources);
    if (f->o->node_file) {
        size_t pool = policy_pool_of(&f->policy, node_label, &view);
        print_marks(f, &view, pool);
        print_for(f, pool, &facts);
    } else {
        printf("# no --node given: for a host with Ubuntu 24.04 and containerd\n");
        for (size_t i = 0; i < f->policy.pools_len; i++)
            print_for(f, i, &facts);
    }
    print_followers(f, &facts);
    targets_free(f->targets);
    node_free(strings, node);
    intern_free(strings);
    if (f->e.kind != ERR_NONE)
        fprintf(stderr, "ostler: %s\n", err_msg(&f->e));
    return f->e.kind == ERR_NONE ? 0 : 1;
}

int offline_render(const struct options *o)
{
    struct offline f = { .o = o };
    if (!load_policy(o, &f.policy))
        return 1;
    int rc = 1;
    CLEANUP_JSON json_t *node = o->node_file ? load_one(o->node_file, NULL, &f.e) : json_parse(common_node, strlen(common_node), &f.e);
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
