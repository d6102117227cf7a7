/* The project's own operands in a little world: DaemonSets of the manifests, on all nodes. */
#ifndef OSTLER_TESTS_SIM_ACTORS_OPERANDS_H
#define OSTLER_TESTS_SIM_ACTORS_OPERANDS_H

#include "base/yaml.h"
#include "tests/unit/sim_actors/little_world.h"

static inline void operands_set_images(json_t *containers, const char *tag)
{
    size_t i;
    json_t *c;
    json_array_foreach (containers, i, c)
        json_object_set_new(c, "image", json_textf("%s:%s", json_str(c, "image"), tag));
}

/* Sets an environment variable of all containers that have it. */
static inline void operands_set_env(json_t *containers, const char *name, const char *value)
{
    size_t i, k;
    json_t *c, *variable;
    json_array_foreach (containers, i, c)
        json_array_foreach (json_object_get(c, "env"), k, variable)
            if (str_eq(json_str(variable, "name"), name))
                json_object_set_new(variable, "value", json_string(value));
}

/* One operand's DaemonSet with images of this tag, for a driver of this digest. New reference. */
static inline json_t *operand(const char *folder, const char *file, const char *tag,
                              const char *digest)
{
    CLEANUP_FREE char *path = xasprintf("reconcilers/manifests/%s/%s.yaml", folder, file);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    json_t *set = json_incref(json_array_get(documents, 0)),
           *pod = json_at(set, "spec.template.spec");
    static const char *const lists[] = { "initContainers", "containers" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        operands_set_images(json_object_get(pod, lists[i]), tag);
        operands_set_env(json_object_get(pod, lists[i]), "DRIVER_CONFIG_DIGEST", digest);
        operands_set_env(json_object_get(pod, lists[i]), "REVISION", "r1");
    }
    json_object_del(pod, "affinity");
    json_set_at(set, "metadata.namespace", json_string("ops"));
    json_set_at(set, "spec.template.metadata.labels.app", json_string(folder));
    return set;
}

static inline void operands_create(struct little *w, const char *folder, const char *file,
                                   const char *tag, const char *digest)
{
    CLEANUP_JSON json_t *set = operand(folder, file, tag, digest);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(w->api, "test", kind_named("daemonsets"), set, &r) < 0)
        fail_msg("%s", r.message);
}

/* Driver, toolkit, device plugin and exporter. */
static inline void operands_create_all(struct little *w, const char *tag, const char *digest)
{
    operands_create(w, "driver", "container", tag, digest);
    operands_create(w, "toolkit", "daemonset", tag, digest);
    operands_create(w, "device-plugin", "daemonset", tag, digest);
    operands_create(w, "exporter", "daemonset", tag, digest);
}

static inline struct actors_machine operands_machine(const struct little *w, const char *node)
{
    struct actors_machine m;
    assert_true(actors_machine(w->actors, node, &m));
    return m;
}

/* Allocatable GPUs of a node as text; NULL: the key is not there. */
static inline const char *operands_gpus(const struct little *w, const char *node, const char *list)
{
    return json_key(json_at(json_at(little_get(w, "nodes", "", node), "status"), list),
                    "nvidia.com/gpu");
}

#endif
