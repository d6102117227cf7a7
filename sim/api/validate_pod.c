/* Validation of Pods, as the API server has it. */
#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/validate.h"

static const char *const restart_policies[] = { "Always", "OnFailure", "Never", NULL };
static const char *const dns_policies[] = { "ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                            "None", NULL };
static const char *const container_lists[] = { "containers", "initContainers" };

/* The only fields of a pod's spec that may change. */
#define UPDATABLE                                                                                  \
    "pod updates may not change fields other than "                                                \
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"                                   \
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "                 \
    "tolerations),`spec.terminationGracePeriodSeconds` "                                           \
    "(allow it to be set to 1 if it was previously negative)"

/* ---- volumes */

static void validate_volume(const json_t *volume, const struct spot *at, struct refusal *r)
{
    const struct spot *host = SPOT(at, "hostPath");
    if (json_object_get(volume, "hostPath"))
        validate_required(json_object_get(volume, "hostPath"), "path", host, r);
    size_t sources = json_object_size(volume) - (json_object_get(volume, "name") ? 1 : 0);
    if (sources > 1)
        spot_forbidden(r, host, "may not specify more than 1 volume type");
    validate_required_label(volume, "name", at, r);
}

/* The names of a list's items must be unique; `seen` collects them. */
static void validate_unique(const json_t *item, json_t *seen, const struct spot *at,
                            struct refusal *r)
{
    const char *name = json_str_or_empty(item, "name");
    if (*name && !validate_first(seen, name))
        spot_duplicate(r, SPOT(at, "name"), json_object_get(item, "name"), "");
}

/* `names` becomes the set of their names. */
static void validate_volumes(const json_t *volumes, json_t *names, const struct spot *at,
                             struct refusal *r)
{
    JSON_EACH_AT (i, volume, volumes) {
        const struct spot *here = SPOT_ITEM(at, i);
        validate_volume(volume, here, r);
        validate_unique(volume, names, here, r);
    }
}

/* ---- the spec */

static void validate_containers(const json_t *spec, const json_t *volumes, const struct spot *at,
                                struct refusal *r)
{
    CLEANUP_JSON json_t *names = json_object();
    if (json_array_size(json_object_get(spec, "containers")) == 0)
        spot_required(r, SPOT(at, "containers"), "");
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
        JSON_EACH_AT (i, container, json_object_get(spec, container_lists[l])) {
            const struct spot *here = SPOT_ITEM(SPOT(at, container_lists[l]), i);
            validate_container(container, volumes, here, r);
            validate_unique(container, names, here, r);
        }
    }
}

static void validate_affinity(const json_t *spec, const struct spot *at, struct refusal *r)
{
    static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
    const json_t *nodes = json_at(spec, "affinity.nodeAffinity");
    validate_node_selector(json_object_get(nodes, required),
                           SPOT(SPOT(SPOT(at, "affinity"), "nodeAffinity"), required), r);
}

/* Members that are names. */
static const char *const name_members[] = { "serviceAccountName", "priorityClassName",
                                            "runtimeClassName", "nodeName" };

void validate_pod_spec(const json_t *spec, const struct spot *at, struct refusal *r)
{
    CLEANUP_JSON json_t *names = json_object();
    validate_volumes(json_object_get(spec, "volumes"), names, SPOT(at, "volumes"), r);
    validate_containers(spec, names, at, r);
    validate_word(spec, "restartPolicy", restart_policies, at, r);
    validate_word(spec, "dnsPolicy", dns_policies, at, r);
    validate_labels(json_object_get(spec, "nodeSelector"), SPOT(at, "nodeSelector"), r);
    for (size_t i = 0; i < ARRAY_LEN(name_members); i++)
        if (*json_str_or_empty(spec, name_members[i]))
            validate_subdomain(json_str_or_empty(spec, name_members[i]), SPOT(at, name_members[i]),
                               r);
    validate_affinity(spec, at, r);
    validate_tolerations(json_object_get(spec, "tolerations"), SPOT(at, "tolerations"), r);
    if (*json_str_or_empty(spec, "hostname"))
        validate_dns_label(json_str_or_empty(spec, "hostname"), false, SPOT(at, "hostname"), r);
    const json_t *seconds = json_object_get(spec, "activeDeadlineSeconds");
    if (seconds && (json_integer_value(seconds) < 1 || json_integer_value(seconds) > INT32_MAX))
        spot_invalid(r, SPOT(at, "activeDeadlineSeconds"), seconds,
                     "must be between 1 and 2147483647, inclusive");
}

/* ---- updates */

/* A copy of containers with the images of others at the same places. */
static json_t *with_images_of(const json_t *containers, const json_t *others)
{
    json_t *copy = json_array();
    JSON_EACH_AT (i, container, containers) {
        json_t *own = json_copy(container);
        json_t *image = json_object_get(json_array_get(others, i), "image");
        if (image)
            json_object_set(own, "image", image);
        json_array_append_new(copy, own);
    }
    return copy;
}

/* Whether every toleration that was there still is, in its place or another. */
static bool keeps_tolerations(const json_t *was, const json_t *is)
{
    CLEANUP_JSON json_t *there = json_object();
    JSON_EACH_AT (i, toleration, is)
        validate_first_value(there, toleration);
    JSON_EACH_AT (i, toleration, was)
        if (validate_first_value(there, toleration))
            return false;
    return true;
}

/* The new spec with all allowed changes undone. New reference. */
static json_t *without_allowed(const json_t *was, const json_t *is)
{
    static const char *const free_members[] = { "activeDeadlineSeconds", "tolerations",
                                                "schedulingGates" };
    json_t *undone = json_copy((json_t *) is);
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
        const char *key = container_lists[l];
        if (json_object_get(is, key))
            json_object_set_new(
                undone, key, with_images_of(json_object_get(is, key), json_object_get(was, key)));
    }
    for (size_t i = 0; i < ARRAY_LEN(free_members); i++) {
        json_t *old = json_object_get(was, free_members[i]);
        if (old)
            json_object_set(undone, free_members[i], old);
        else
            json_object_del(undone, free_members[i]);
    }
    return undone;
}

static void validate_change(const json_t *was, const json_t *is, const struct spot *at,
                            struct refusal *r)
{
    CLEANUP_JSON json_t *undone = without_allowed(was, is);
    if (!keeps_tolerations(json_object_get(was, "tolerations"), json_object_get(is, "tolerations")))
        spot_forbidden(r, SPOT(at, "tolerations"),
                       "existing toleration can not be modified except its tolerationSeconds");
    if (!json_equal(was, undone))
        spot_forbidden(r, at, UPDATABLE);
}

/* Images of pods, unlike those of templates, must not have blanks around them. */
static void validate_images(const json_t *spec, const struct spot *at, struct refusal *r)
{
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
        JSON_EACH_AT (i, container, json_object_get(spec, container_lists[l])) {
            const char *image = json_str_or_empty(container, "image");
            size_t n = strlen(image);
            if (n > 0 &&
                (isspace((unsigned char) image[0]) || isspace((unsigned char) image[n - 1])))
                spot_invalid_text(r, SPOT(SPOT_ITEM(SPOT(at, container_lists[l]), i), "image"),
                                  image, "must not have leading or trailing whitespace");
        }
    }
}

void validate_pod(const json_t *before, const json_t *after, struct refusal *r)
{
    const json_t *was = json_object_get(before, "spec"), *is = json_object_get(after, "spec");
    const struct spot *at = SPOT(NULL, "spec");
    if (was == is && before)
        return;
    validate_pod_spec(is, at, r);
    validate_images(is, at, r);
    if (before && !json_equal(was, is))
        validate_change(was, is, at, r);
}
