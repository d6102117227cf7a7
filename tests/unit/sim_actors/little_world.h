/* A little world for tests of actors: an API server, virtual time, machines, and everybody who is
 * not left out.
 *
 *     struct little w;
 *     little_init(&w, 3);                                  // gpu-1, gpu-2, gpu-3; change w.world
 *     as wanted
 *     little_begin(&w);
 *     little_create(&w, "pods", "{'metadata': {…}, …}");   // ' stands for "
 *     little_pass(&w, 5000);
 *     little_end(&w); */
#ifndef OSTLER_TESTS_SIM_ACTORS_LITTLE_WORLD_H
#define OSTLER_TESTS_SIM_ACTORS_LITTLE_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/actors.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { LITTLE_NODES = 16 };

struct little {
    struct sim sim;
    struct api *api;
    struct actors *actors;
    struct actors_options options;
    struct spec_world world;
    struct spec_shape shape; /* of all nodes */
    struct spec_node nodes[LITTLE_NODES];
    char names[LITTLE_NODES][32];
    json_t *objects;
    size_t commits;
};

static inline void little_count_commit(void *arg, const struct api_commit *c)
{
    struct little *w = arg;
    w->commits++;
    /* What happened, for comparing two runs. */
    CLEANUP_FREE char *text = c->after ? json_canonical(c->after) : xstrdup(object_name(c->before));
    sim_trace(&w->sim, text, strlen(text));
}

static inline void little_init(struct little *w, size_t nodes)
{
    *w = (struct little){ .shape = { .name = "gpu",
                                     .os_image = "Ubuntu 24.04.1 LTS",
                                     .os_id = "ubuntu",
                                     .os_version = "24.04",
                                     .kernel = "6.8.0-45-generic",
                                     .gpus = 8 } };
    sim_init(&w->sim, 1);
    w->api = api_new(&w->sim.clock);
    for (size_t i = 0; i < nodes; i++) {
        snprintf(w->names[i], sizeof w->names[i], "gpu-%zu", i + 1);
        w->nodes[i] = (struct spec_node){ .name = w->names[i], .shape = &w->shape };
    }
    w->objects = tree("[{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'default'}},"
                      " {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'ops'}},"
                      " {'apiVersion': 'node.k8s.io/v1', 'kind': 'RuntimeClass', 'metadata': "
                      "{'name': 'nvidia'}, 'handler': 'nvidia'}]");
    w->world = (struct spec_world){ .nodes = w->nodes, .node_count = nodes };
    api_on_commit(w->api, little_count_commit, w);
}

static inline void little_begin(struct little *w)
{
    w->world.objects = w->objects;
    w->options.world = &w->world;
    w->actors = actors_new(&w->sim, w->api, &w->options);
}

static inline void little_end(struct little *w)
{
    actors_free(w->actors);
    api_free(w->api);
    sim_clear(&w->sim);
    json_decref(w->objects);
}

static inline void little_pass(struct little *w, int64_t ms)
{
    sim_run_until(&w->sim, w->sim.now_ms + ms);
}

/* Fails the test with the API server's words when it refuses. */
/* Does an action that needs no more than a name, and must not be refused. */
static inline void little_do(const struct little *w, enum spec_verb verb, const char *name)
{
    assert_true(actors_do(w->actors, &(struct spec_action){ .verb = verb, .name = name }, NULL));
}

static inline void little_create(struct little *w, const char *plural, const char *text)
{
    CLEANUP_JSON json_t *object = tree(text);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(w->api, "test", kind_named(plural), object, &r) < 0)
        fail_msg("%s", r.message);
}

static inline void little_merge(struct little *w, const char *plural, const char *ns,
                                const char *name, const char *text)
{
    CLEANUP_JSON json_t *patch = tree(text);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_merge(w->api, "test", kind_named(plural), ns, name, "", patch, &r) < 0)
        fail_msg("%s", r.message);
}

static inline void little_delete(struct little *w, const char *plural, const char *ns,
                                 const char *name)
{
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_delete(w->api, "test", kind_named(plural), ns, name, NULL, -1, &r) < 0)
        fail_msg("%s", r.message);
}

/* NULL when it is not there. */
static inline json_t *little_get(const struct little *w, const char *plural, const char *ns,
                                 const char *name)
{
    return api_get(w->api, kind_named(plural), ns, name);
}

/* The objects of a kind whose label has this value (label NULL: all). */
static inline size_t little_count(const struct little *w, const char *plural, const char *label,
                                  const char *value)
{
    const struct kind *k = kind_named(plural);
    size_t count = 0;
    for (size_t i = 0; i < api_count(w->api, k); i++)
        count += !label || str_eq(object_label(api_at(w->api, k, i), label), value);
    return count;
}

/* The first pod with the label app=… on a node (NULL: anywhere); NULL when there is none. */
static inline json_t *little_pod(const struct little *w, const char *app, const char *node)
{
    const struct kind *k = kind_named("pods");
    for (size_t i = 0; i < api_count(w->api, k); i++) {
        json_t *pod = api_at(w->api, k, i);
        if (str_eq(object_label(pod, "app"), app) &&
            (!node || str_eq(json_str(pod, "spec.nodeName"), node)))
            return pod;
    }
    return NULL;
}

static inline bool little_pod_is_ready(const json_t *pod)
{
    return str_eq(condition_status(json_at(pod, "status.conditions"), "Ready"), "True");
}

/* The pods of an app that are ready. */
static inline size_t little_ready(const struct little *w, const char *app)
{
    const struct kind *k = kind_named("pods");
    size_t count = 0;
    for (size_t i = 0; i < api_count(w->api, k); i++)
        count += str_eq(object_label(api_at(w->api, k, i), "app"), app) &&
                 little_pod_is_ready(api_at(w->api, k, i));
    return count;
}

/* A DaemonSet named and labelled `app` in the namespace ops; `more` is put into its spec, `pod`
 * into its pods' spec (both may be NULL). */
static inline void little_daemonset(struct little *w, const char *app, const char *more,
                                    const char *pod)
{
    CLEANUP_JSON json_t *set = json_pack(
        "{s:{s:s, s:s}, s:{s:{s:{s:s}}, s:{s:{s:{s:s}}, s:{s:[{s:s, s:s}]}}}}", "metadata",
        "namespace", "ops", "name", app, "spec", "selector", "matchLabels", "app", app, "template",
        "metadata", "labels", "app", app, "spec", "containers", "name", "main", "image",
        "registry.example/main:1");
    CLEANUP_JSON json_t *over_spec = more ? tree(more) : NULL;
    CLEANUP_JSON json_t *over_pod = pod ? tree(pod) : NULL;
    if (over_spec)
        json_merge(json_at(set, "spec"), over_spec);
    if (over_pod)
        json_merge(json_at(set, "spec.template.spec"), over_pod);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(w->api, "test", kind_named("daemonsets"), set, &r) < 0)
        fail_msg("%s", r.message);
}

/* A number of a DaemonSet's status. */
static inline int64_t little_number(const struct little *w, const char *app, const char *field)
{
    return json_int(json_at(little_get(w, "daemonsets", "ops", app), "status"), field, 0);
}

/* A pod in default with one container; `more` is put into its spec (may be NULL). */
static inline void little_make_pod(struct little *w, const char *name, const char *more)
{
    CLEANUP_JSON json_t *pod = json_pack("{s:{s:s, s:s, s:{s:s}}, s:{s:[{s:s, s:s}]}}", "metadata",
                                         "namespace", "default", "name", name, "labels", "app",
                                         name, "spec", "containers", "name", "main", "image",
                                         "registry.example/main:1");
    CLEANUP_JSON json_t *over = more ? tree(more) : NULL;
    if (over)
        json_merge(json_at(pod, "spec"), over);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(w->api, "test", kind_named("pods"), pod, &r) < 0)
        fail_msg("%s", r.message);
}

/* Something of the pod `name` in default. */
static inline const json_t *little_of_pod(const struct little *w, const char *name,
                                          const char *path)
{
    return json_at(little_get(w, "pods", "default", name), path);
}

/* One of the states of a pod's first container (init: init container): "state.waiting.reason". NULL
 * when absent. */
static inline const char *little_state(const struct little *w, const char *ns, const char *name,
                                       bool init, const char *path)
{
    const json_t *pod = little_get(w, "pods", ns, name);
    return json_str(
        json_array_get(
            json_at(pod, init ? "status.initContainerStatuses" : "status.containerStatuses"), 0),
        path);
}

#endif
