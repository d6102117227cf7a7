/* What a write to a node may touch. Patches as the API server carries them out, and the check that
 * everything which is not Ostler's is as it was. */
#ifndef OSTLER_TESTS_SUPPORT_FRAME_H
#define OSTLER_TESTS_SUPPORT_FRAME_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"

/* RFC 7386, in place: objects are merged, null removes, everything else replaces. */
static inline void frame_merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) patch, key, value) {
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (json_is_object(value)) {
            if (!json_is_object(json_object_get(target, key)))
                json_object_set_new(target, key, json_object());
            frame_merge(json_object_get(target, key), value);
        } else {
            json_object_set_new(target, key, json_deep_copy(value));
        }
    }
}

/* A part of a JSON pointer, with ~1 and ~0 as what they stand for. Owned by the caller. */
static inline char *frame_part(const char *from, size_t len)
{
    char *part = xstrndup(from, len), *to = part;
    for (const char *at = part; *at; at++) {
        bool escape = at[0] == '~' && (at[1] == '0' || at[1] == '1');
        *to++ = (char) (!escape ? *at : at[1] == '0' ? '~' : '/');
        at += escape;
    }
    *to = '\0';
    return part;
}

/* The object that holds what a JSON pointer names, and the name in it; NULL when there is none and
 * none is to be made. */
static inline json_t *frame_parent(json_t *object, const char *pointer, bool make, char **ret_key)
{
    for (;;) {
        const char *part = pointer + 1, *end = strchrnul(part, '/');
        *ret_key = frame_part(part, (size_t) (end - part));
        if (!*end)
            return object;
        if (make && !json_object_get(object, *ret_key))
            json_object_set_new(object, *ret_key, json_object());
        object = json_object_get(object, *ret_key);
        free(TAKE(*ret_key));
        pointer = end;
    }
}

/* One operation of RFC 6902, in place; false when it does not hold. */
static inline bool frame_operation(json_t *object, const json_t *operation)
{
    CLEANUP_FREE char *key = NULL;
    json_t *parent = frame_parent(object, json_str(operation, "path"), false, &key),
           *value = json_object_get(operation, "value");
    const json_t *now = json_object_get(parent, key);
    const char *op = json_str(operation, "op");
    if (!json_is_object(parent))
        return false;
    if (str_eq(op, "test"))
        return json_is_null(value) ? !now || json_is_null(now) : json_equal(now, value);
    if (str_eq(op, "remove"))
        return json_object_del(parent, key) == 0;
    return (now || str_eq(op, "add")) &&
           json_object_set_new(parent, key, json_deep_copy(value)) == 0;
}

/* A JSON patch: the object as it is afterwards, NULL when it is refused. New reference. */
static inline json_t *frame_operated(const json_t *object, const json_t *operations)
{
    size_t i;
    json_t *operation, *after = json_deep_copy(object);
    json_array_foreach (operations, i, operation) {
        if (frame_operation(after, operation))
            continue;
        json_decref(after);
        return NULL;
    }
    return after;
}

/* A node as the API server shows it, in place: what is empty is left out, but for the spec. */
static inline void frame_show(json_t *node)
{
    static const char *const maps[] = { "labels", "annotations" };
    json_t *metadata = json_object_get(node, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        if (json_object_size(json_object_get(metadata, maps[i])) == 0)
            json_object_del(metadata, maps[i]);
    if (!json_object_get(node, "spec"))
        json_object_set_new(node, "spec", json_object());
    if (json_array_size(json_at(node, "spec.taints")) == 0)
        json_object_del(json_object_get(node, "spec"), "taints");
}

/* Whether a node's annotation says that a label ("labels") or taint ("taints") is Ostler's. */
static inline bool frame_says(const json_t *node, const char *what, const char *name)
{
    const char *text = object_annotation(node, ANNOTATION_MARKS);
    CLEANUP_JSON json_t *said = text ? json_parse(text, strlen(text), NULL) : NULL;
    return json_has_text(json_object_get(said, what), name);
}

static inline bool frame_is_ours(const char *key)
{
    return str_eq(key, LABEL_DRIVER) || str_eq(key, LABEL_STACK) || str_eq(key, LABEL_REMOVAL) ||
           str_eq(key, LABEL_EXPORTER) || str_eq(key, LABEL_NODE_CARDS);
}

/* Keys that no annotation may claim. */
static inline bool frame_is_of_kubernetes(const char *key)
{
    const char *slash = strchr(key, '/');
    CLEANUP_FREE char *domain = slash ? xstrndup(key, (size_t) (slash - key)) : NULL;
    return domain &&
           (str_eq(domain, "kubernetes.io") || str_eq(domain, "k8s.io") ||
            str_has_suffix(domain, ".kubernetes.io") || str_has_suffix(domain, ".k8s.io"));
}

/* Keys that no taint may claim: those of Kubernetes, but for the prefixes that it and its
 * autoscaler give to all. */
static inline bool frame_is_taint_of_kubernetes(const char *key)
{
    static const char *const given[] = { "startup-taint.cluster-autoscaler.kubernetes.io/",
                                         "ignore-taint.cluster-autoscaler.kubernetes.io/",
                                         "status-taint.cluster-autoscaler.kubernetes.io/",
                                         "readiness.k8s.io/" };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (str_has_prefix(key, given[i]))
            return false;
    return frame_is_of_kubernetes(key);
}

static inline const char *frame_labels(const json_t *before, const json_t *after)
{
    const json_t *was = json_at(before, "metadata.labels"), *is = json_at(after, "metadata.labels");
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) was, key, value) {
        bool theirs = frame_is_of_kubernetes(key) ||
                      (!frame_is_ours(key) && !frame_says(before, "labels", key));
        if (theirs && !json_equal(value, json_object_get(is, key)))
            return "a label of others has changed";
        if (theirs && !frame_is_of_kubernetes(key) && frame_says(after, "labels", key))
            return "a label of others is claimed";
    }
    json_object_foreach ((json_t *) is, key, value)
        if (!json_object_get(was, key) && !frame_is_ours(key) && !frame_says(after, "labels", key))
            return "a new label is not recorded as ours";
    return NULL;
}

/* "key:effect", as the annotation names taints. Owned by the caller. */
static inline char *frame_taint_name(const json_t *taint)
{
    return xasprintf("%s:%s", json_str_or_empty(taint, "key"), json_str_or_empty(taint, "effect"));
}

/* A claimed node's taint of the upgrade is Ostler's, whatever the annotation says. */
static inline bool frame_is_upgrade(const json_t *says, const json_t *taint)
{
    const char *key = json_str(taint, "key"), *value = json_str(taint, "value");
    bool is_upgrade = str_eq(key, TAINT_UPGRADE) || str_eq(value, "Upgrade") ||
                      str_eq(value, "Rollback");
    return is_upgrade && object_annotation(says, ANNOTATION_CLAIM) &&
           str_eq(json_str(taint, "effect"), CLAIM_TAINT_EFFECT);
}

/* The taints that are not Ostler's by what a node says, in their order, but those of a new node and
 * of an unhealthy one: these are Ostler's to take off, whoever has set them. New reference. */
static inline json_t *frame_foreign_taints(const json_t *node, const json_t *says)
{
    json_t *out = json_array(), *taint;
    size_t i;
    json_array_foreach (json_at(node, "spec.taints"), i, taint) {
        CLEANUP_FREE char *name = frame_taint_name(taint);
        if (str_eq(json_str(taint, "key"), TAINT_STARTUP) ||
            str_eq(json_str(taint, "key"), TAINT_UNHEALTHY))
            continue;
        if (frame_is_taint_of_kubernetes(json_str_or_empty(taint, "key")) ||
            (!frame_says(says, "taints", name) && !frame_is_upgrade(says, taint)))
            json_array_append(out, taint);
    }
    return out;
}

static inline bool frame_has_taint(const json_t *node, const char *key)
{
    bool has = false;
    size_t i;
    json_t *taint;
    json_array_foreach (json_at(node, "spec.taints"), i, taint)
        has = has || str_eq(json_str(taint, "key"), key);
    return has;
}

/* Whether a taint that is Ostler's to take off has come, and is not recorded as ours. */
static inline bool frame_closed_unsaid(const json_t *before, const json_t *after)
{
    static const char *const keys[] = { TAINT_STARTUP, TAINT_UNHEALTHY };
    bool unsaid = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        CLEANUP_FREE char *name = xasprintf("%s:" CLAIM_TAINT_EFFECT, keys[i]);
        unsaid |= frame_has_taint(after, keys[i]) && !frame_has_taint(before, keys[i]) &&
                  !frame_says(after, "taints", name);
    }
    return unsaid;
}

/* Annotations for autoscalers: a person's stay, whatever they say, and are not claimed; Ostler's
 * say "true" and are named. */
static inline const char *frame_keeps(const json_t *before, const json_t *after)
{
    for (size_t i = 0; i < KEEP_COUNT; i++) {
        const char *key = autoscaler_keeps[i], *was = object_annotation(before, key),
                   *is = object_annotation(after, key);
        bool ours = frame_says(before, "annotations", key) && str_eq(was, KEEPS_VALUE);
        if (was && !ours && !str_eq(was, is))
            return "an annotation of others for autoscalers has changed";
        if (was && !ours && !frame_says(before, "annotations", key) &&
            frame_says(after, "annotations", key))
            return "an annotation of others for autoscalers is claimed";
        if (is && !was && !(frame_says(after, "annotations", key) && str_eq(is, KEEPS_VALUE)))
            return "a new annotation for autoscalers is not recorded as ours";
    }
    return NULL;
}

/* What is left of a node when all is taken out that a write of marks may touch. New reference. */
static inline json_t *frame_rest(const json_t *node)
{
    json_t *rest = json_deep_copy(node);
    json_t *metadata = json_object_get(rest, "metadata"),
           *annotations = json_object_get(metadata, "annotations");
    json_object_del(json_object_get(rest, "spec"), "taints");
    json_object_del(metadata, "labels");
    json_object_del(metadata, "resourceVersion");
    json_object_del(annotations, ANNOTATION_MARKS);
    json_object_del(annotations, ANNOTATION_HOST_DRIVER);
    json_object_del(annotations, ANNOTATION_CLAIM);
    json_object_del(annotations, ANNOTATION_GAVE_UP);
    json_object_del(annotations, ANNOTATION_PROOF);
    json_object_del(annotations, ANNOTATION_FAULT);
    json_object_del(annotations, ANNOTATION_REPAIR);
    for (size_t i = 0; i < KEEP_COUNT; i++)
        json_object_del(annotations, autoscaler_keeps[i]);
    if (json_object_size(annotations) == 0)
        json_object_del(metadata, "annotations");
    if (json_object_size(json_object_get(rest, "spec")) == 0)
        json_object_del(rest, "spec");
    return rest;
}

/* What a write did to a node that it may not; NULL when it kept the frame. Static text. */
static inline const char *frame_broken(const json_t *before, const json_t *after)
{
    CLEANUP_JSON json_t *rest_before = frame_rest(before);
    CLEANUP_JSON json_t *rest_after = frame_rest(after);
    CLEANUP_JSON json_t *taints_before = frame_foreign_taints(before, before);
    CLEANUP_JSON json_t *taints_after = frame_foreign_taints(after, after);
    if (!json_equal(rest_before, rest_after))
        return "something besides labels, taints and annotations of ours has changed";
    if (!json_equal(taints_before, taints_after))
        return "taints of others are not as they were";
    if (frame_closed_unsaid(before, after))
        return "a new taint is not recorded as ours";
    const char *keeps = frame_keeps(before, after);
    return keeps ? keeps : frame_labels(before, after);
}

#endif
