/* Node Feature Discovery: labels nodes by their machines, and restores removed labels. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/objects.h"

#define USER "system:serviceaccount:node-feature-discovery:nfd-master"
#define FEATURE "feature.node.kubernetes.io/"

/* From a node's first report to its labels, and the period of checks. */
static const struct spec_delay first_look = { 500, 5000 };
enum { PERIOD_MS = 60 * 1000 };

struct labeller {
    struct actors *a;
    struct agenda nodes;
};

static void set(json_t *labels, const char *name, const char *value)
{
    CLEANUP_FREE char *key = xasprintf(FEATURE "%s", name);
    if (value)
        json_object_set_new(labels, key, json_string(value));
}

/* Splits "6.8.0-45-generic" into the labels "6" and "8". */
static void set_version(json_t *labels, const char *version, const char *major_name,
                        const char *minor_name)
{
    if (!version)
        return;
    size_t major = strspn(version, "0123456789"),
           minor = version[major] == '.' ? strspn(version + major + 1, "0123456789") : 0;
    CLEANUP_FREE char *major_text = xstrndup(version, major);
    CLEANUP_FREE char *minor_text = xstrndup(version + major + (minor ? 1 : 0), minor);
    set(labels, major_name, major ? major_text : NULL);
    set(labels, minor_name, minor ? minor_text : NULL);
}

/* The labels of a machine of this shape. New reference. */
static json_t *labels_of(const struct spec_shape *s)
{
    json_t *labels = json_object();
    set(labels, "kernel-version.full", s->kernel);
    set_version(labels, s->kernel, "kernel-version.major", "kernel-version.minor");
    set(labels, "system-os_release.ID", s->os_id);
    set(labels, "system-os_release.VERSION_ID", s->os_version);
    set_version(labels, s->os_version, "system-os_release.VERSION_ID.major",
                "system-os_release.VERSION_ID.minor");
    set(labels, "pci-10de.present", s->gpus > 0 ? "true" : NULL);
    return labels;
}

/* The patch that sets these labels on a node, and removes others with the same prefix; NULL: no
 * change. */
static json_t *patch_for(const json_t *node, const json_t *wanted)
{
    json_t *patch = json_object();
    JSON_EACH_MEMBER (key, value, wanted)
        if (!str_eq(object_label(node, key), json_string_value(value)))
            json_object_set(patch, key, value);
    JSON_EACH_MEMBER (key, value, json_at(node, "metadata.labels"))
        if (str_has_prefix(key, FEATURE) && !json_object_get(wanted, key))
            json_object_set_new(patch, key, json_null());
    if (json_object_size(patch) > 0)
        return json_pack("{s:{s:o}}", "metadata", "labels", patch);
    json_decref(patch);
    return NULL;
}

static void write_labels(struct labeller *l, const char *name, const json_t *wanted)
{
    const json_t *node = api_get(l->a->api, l->a->kinds.node, "", name);
    CLEANUP_JSON json_t *patch = node ? patch_for(node, wanted) : NULL;
    if (patch)
        api_merge(l->a->api, USER, l->a->kinds.node, "", name, "", patch, NULL);
}

static void labeller_commit(void *self, const struct api_commit *c)
{
    struct labeller *l = self;
    if (c->kind != l->a->kinds.node || !c->after || str_eq(c->user, USER))
        return;
    if (!c->before)
        agenda_note(&l->nodes, object_name(c->after));
    else if (json_at(c->before, "metadata.labels") != json_at(c->after, "metadata.labels"))
        agenda_after(&l->nodes, object_name(c->after), PERIOD_MS);
}

static void labeller_look(void *self, const char *name)
{
    struct labeller *l = self;
    const struct spec_shape *shape = kubelet_shape(l->a, name);
    CLEANUP_JSON json_t *wanted = shape ? labels_of(shape) : NULL;
    if (wanted)
        write_labels(l, name, wanted);
}

void labeller_restart(struct actors *a)
{
    struct labeller *l = a->selves[ACTOR_PLACE_LABELLER];
    CLEANUP_JSON json_t *none = json_object();
    for (size_t i = 0; l && i < api_count(a->api, a->kinds.node); i++) {
        CLEANUP_FREE char *name = xstrdup(object_name(api_at(a->api, a->kinds.node, i)));
        if (!kubelet_shape(a, name))
            continue;
        write_labels(l, name, none);
        agenda_after(&l->nodes, name, agenda_draw(&l->nodes, first_look));
    }
}

static void labeller_begin(void *self)
{
    struct labeller *l = self;
    l->nodes.delay = first_look;
}

const struct actor labeller_actor = {
    .size = sizeof(struct labeller),
    .agendas = { AGENDA(struct labeller, nodes, "labeller", controller, labeller_look) },
    .begin = labeller_begin,
    .commit = labeller_commit,
};
