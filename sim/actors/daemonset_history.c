/* ControllerRevisions of a DaemonSet: one for each template that it has had, up to the limit. */
#include "sim/actors/daemonset.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/fit.h"

/* Tolerations of all daemon pods. */
static const struct {
    const char *key, *effect;
    bool host_network_only;
} tolerations[] = {
    { "node.kubernetes.io/not-ready", "NoExecute", false },
    { "node.kubernetes.io/unreachable", "NoExecute", false },
    { "node.kubernetes.io/disk-pressure", "NoSchedule", false },
    { "node.kubernetes.io/memory-pressure", "NoSchedule", false },
    { "node.kubernetes.io/pid-pressure", "NoSchedule", false },
    { "node.kubernetes.io/unschedulable", "NoSchedule", false },
    { "node.kubernetes.io/network-unavailable", "NoSchedule", true },
};

/* The template's spec for pods of the set, except the node. */
static json_t *pod_spec(const json_t *template)
{
    json_t *spec = json_copy(json_object_get(template, "spec"));
    const json_t *own = json_object_get(spec, "tolerations");
    json_t *all = own ? json_copy((json_t *) own) : json_array();
    for (size_t i = 0; i < ARRAY_LEN(tolerations); i++)
        if (!tolerations[i].host_network_only || json_bool(spec, "hostNetwork", false))
            json_array_append_new(all,
                                  json_pack("{s:s, s:s, s:s}", "key", tolerations[i].key,
                                            "operator", "Exists", "effect", tolerations[i].effect));
    json_object_set_new(spec, "tolerations", all);
    return spec;
}

/* The data of a revision. */
static json_t *history_data(const json_t *template)
{
    json_t *kept = json_copy((json_t *) template);
    json_object_set_new(kept, "$patch", json_string("replace"));
    return json_pack("{s:{s:o}}", "spec", "template", kept);
}

static int64_t revision_number(const json_t *revision)
{
    return json_int(revision, "revision", 0);
}

/* The set's revisions; adopts matching ones without a controller. */
static json_t *claim_revisions(struct daemon *d)
{
    const struct actors *a = d->a;
    json_t *own = json_array();
    for (size_t i = 0; i < api_count(a->api, a->kinds.revision); i++) {
        CLEANUP_JSON json_t *revision = json_incref(api_at(a->api, a->kinds.revision, i));
        if (!str_eq(object_namespace(revision), object_namespace(d->object)))
            continue;
        if (is_controlled_by(revision, d->uid)) {
            json_array_append(own, revision);
        } else if (!object_controller(revision) && !object_is_deleting(revision) &&
                   fit_labels(json_at(d->object, "spec.selector"), revision)) {
            json_t *reference = owner_reference(a->kinds.daemonset, d->object);
            if (object_adopt(d->a, DAEMONSET_USER, a->kinds.revision, revision, reference) == 0)
                json_array_append(own, revision);
        }
    }
    return own;
}

static void create_revision(struct daemon *d, json_t *data_steal, int64_t number)
{
    const json_t *template = json_at(d->object, "spec.template");
    json_t *labels = json_at(template, "metadata.labels")
                         ? json_copy(json_at(template, "metadata.labels"))
                         : json_object();
    json_object_set_new(labels, LABEL_REVISION_HASH, json_string(d->hash));
    json_t *metadata = json_pack("{s:s, s:o, s:o, s:[o]}", "namespace", object_namespace(d->object),
                                 "name", json_textf("%s-%s", object_name(d->object), d->hash),
                                 "labels", labels, "ownerReferences",
                                 owner_reference(d->a->kinds.daemonset, d->object));
    const json_t *annotations = json_at(d->object, "metadata.annotations");
    if (annotations)
        json_object_set(metadata, "annotations", (json_t *) annotations);
    CLEANUP_JSON json_t *revision = json_pack("{s:o, s:o, s:I}", "metadata", metadata, "data",
                                              data_steal, "revision", (json_int_t) number);
    api_create(d->a->api, DAEMONSET_USER, d->a->kinds.revision, revision, NULL);
}

/* Whether a pod of the set has this revision. */
static bool is_live(const struct daemon *d, const json_t *revision)
{
    const char *hash = object_label(revision, LABEL_REVISION_HASH);
    const struct index_set *own = index_dependents(d->a->index, d->uid);
    for (size_t i = 0; i < own->len; i++)
        if (own->items[i]->kind == d->a->kinds.pod &&
            str_eq(object_label(own->items[i]->object, LABEL_REVISION_HASH), hash))
            return true;
    return str_eq(hash, d->hash);
}

/* Deletes the oldest revisions without pods, down to the limit. */
static void trim(struct daemon *d, const json_t *revisions)
{
    size_t live = 0;
    JSON_EACH (revision, revisions)
        live += is_live(d, revision);
    int64_t excess = (int64_t) (json_array_size(revisions) - live) -
                     json_int(d->object, "spec.revisionHistoryLimit", 10);
    for (; excess > 0; excess--) {
        const json_t *oldest = NULL;
        JSON_EACH (revision, revisions)
            if (!is_live(d, revision) &&
                api_get(d->a->api, d->a->kinds.revision, object_namespace(revision),
                        object_name(revision)) &&
                (!oldest || revision_number(revision) < revision_number(oldest)))
                oldest = revision;
        if (!oldest ||
            api_delete(d->a->api, DAEMONSET_USER, d->a->kinds.revision, object_namespace(oldest),
                       object_name(oldest), object_uid(oldest), -1, NULL) < 0)
            return;
    }
}

/* Makes the revision of this template the newest. */
static void renew(struct daemon *d, const json_t *revision, int64_t newest)
{
    snprintf(d->hash, sizeof d->hash, "%s",
             str_or_empty(object_label(revision, LABEL_REVISION_HASH)));
    if (revision_number(revision) == newest)
        return;
    CLEANUP_JSON json_t *patch = json_pack("{s:I}", "revision", (json_int_t) newest + 1);
    api_merge(d->a->api, DAEMONSET_USER, d->a->kinds.revision, object_namespace(revision),
              object_name(revision), "", patch, NULL);
}

void daemon_sync_history(struct daemon *d)
{
    d->history = false;
    const json_t *template = json_at(d->object, "spec.template");
    CLEANUP_JSON json_t *revisions = claim_revisions(d);
    json_t *data = history_data(template);
    const json_t *same = NULL;
    int64_t newest = 0;
    JSON_EACH (revision, revisions) {
        newest = revision_number(revision) > newest ? revision_number(revision) : newest;
        if (json_equal(json_object_get(revision, "data"), data))
            same = revision;
    }
    if (!d->spec)
        d->spec = pod_spec(template);
    if (same) {
        renew(d, same, newest);
        json_decref(data);
    } else {
        template_hash(template, json_int(d->object, "status.collisionCount", 0), d->hash);
        create_revision(d, data, newest + 1);
    }
    trim(d, revisions);
}
