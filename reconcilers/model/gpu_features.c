#include "reconcilers/model/gpu_features.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/plugin_settings.h"
#include "reconcilers/model/policy_formats.h"

enum { VALUE_MAX = 63, RESOURCE_MAX = 64, VERSION_MAX = 32 };

/* ---- values */

/* A name as a label value. */
static char *with_dashes(const char *name)
{
    char *label = xstrdup(name);
    for (char *c = label; *c; c++)
        if (*c == ' ')
            *c = '-';
    return label;
}

/* A text that is not a valid label value gets no label. */
static void set(json_t *labels, const char *key, const char *value)
{
    if (policy_format_matches(FORMAT_LABEL_VALUE, value))
        json_object_set_new(labels, key, json_string(value));
}

/* The same for a resource: RESOURCE_GPU and ".count". A node's resource name may be anything, or
 * too long. */
static void gpu_features_set_of(json_t *labels, const char *resource, const char *what,
                                const char *fmt, ...) PRINTF(4, 5);
static void gpu_features_set_of(json_t *labels, const char *resource, const char *what,
                                const char *fmt, ...)
{
    va_list args;
    char value[VALUE_MAX + 2]; /* one more than fits, to detect overflow */
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    CLEANUP_FREE char *key = xasprintf("%s.%s", resource, what);
    if (policy_format_matches(FORMAT_LABEL_KEY, key))
        set(labels, key, value);
}

/* ---- versions */

/* A version as labels: one for each part, "" for missing parts, and one for the whole under `full`
 * (NULL: none). */
static void version_labels(json_t *labels, const char *version, const char *const *keys,
                           size_t count, const char *full)
{
    char rest[VERSION_MAX], *at = rest;
    snprintf(rest, sizeof rest, "%s", version);
    for (size_t i = 0; i < count; i++)
        set(labels, keys[i], str_or_empty(strsep(&at, ".")));
    if (full)
        set(labels, full, version);
}

static const char *const driver_keys[] = { LABEL_DRIVER_MAJOR, LABEL_DRIVER_MINOR,
                                           LABEL_DRIVER_REVISION };
static const char *const old_driver_keys[] = { LABEL_OLD_DRIVER_MAJOR, LABEL_OLD_DRIVER_MINOR,
                                               LABEL_OLD_DRIVER_REV };
static const char *const cuda_keys[] = { LABEL_CUDA_MAJOR, LABEL_CUDA_MINOR };
static const char *const old_cuda_keys[] = { LABEL_OLD_CUDA_MAJOR, LABEL_OLD_CUDA_MINOR };
static const char *const compute_keys[] = { LABEL_COMPUTE_MAJOR, LABEL_COMPUTE_MINOR };

static void versions(const struct gpu_features *f, json_t *labels)
{
    if (*f->driver) {
        version_labels(labels, f->driver, driver_keys, ARRAY_LEN(driver_keys), LABEL_DRIVER_FULL);
        version_labels(labels, f->driver, old_driver_keys, ARRAY_LEN(old_driver_keys), NULL);
    }
    if (*f->cuda) {
        version_labels(labels, f->cuda, cuda_keys, ARRAY_LEN(cuda_keys), LABEL_CUDA_FULL);
        version_labels(labels, f->cuda, old_cuda_keys, ARRAY_LEN(old_cuda_keys), NULL);
    }
}

/* ---- what kind of GPU it is */

/* Architectures by their first compute capability, the newest of a generation first: name, and
 * whether MIG can divide the GPUs. Of the newest, only some can be divided. */
static const struct architecture {
    unsigned major, minor;
    const char *family, *mig_capable; /* NULL: not known */
} architectures[] = {
    { 12, 0, "blackwell", NULL }, { 11, 0, "blackwell", NULL },      { 10, 0, "blackwell", "true" },
    { 9, 0, "hopper", "true" },   { 8, 9, "ada-lovelace", "false" }, { 8, 1, "ampere", "false" },
    { 8, 0, "ampere", "true" },   { 7, 5, "turing", "false" },       { 7, 0, "volta", "false" },
    { 6, 0, "pascal", "false" },  { 5, 0, "maxwell", "false" },      { 3, 0, "kepler", "false" },
};

static const struct architecture *architecture_of(const char *compute)
{
    unsigned major, minor;
    if (sscanf(compute, "%3u.%3u", &major, &minor) != 2)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(architectures); i++) {
        const struct architecture *a = &architectures[i];
        if (major == a->major && minor >= a->minor)
            return a;
    }
    static const struct architecture unknown = { 0, 0, "undefined", NULL };
    return &unknown;
}

static void kind(const struct gpu_features *f, json_t *labels)
{
    const struct architecture *a = architecture_of(f->compute);
    const char *capable = f->divided ? "true" : a ? a->mig_capable : NULL;
    if (capable)
        set(labels, LABEL_MIG_CAPABLE, capable);
    if (!a)
        return;
    set(labels, LABEL_GPU_FAMILY, a->family);
    version_labels(labels, f->compute, compute_keys, ARRAY_LEN(compute_keys), NULL);
}

/* ---- resources that pods can request */

/* If GPUs that MIG divides are labelled as whole, no sharing label is set. */
static struct plugin_share share_of(const struct gpu_features *f, const char *resource, bool whole)
{
    return whole ? (struct plugin_share){ SHARING_NONE, 0, false }
                 : plugin_share_of(f->settings, resource);
}

/* The GPU's product name, plus a suffix for its units: "-MIG-1g.10gb", "-SHARED". */
static void resource(const struct gpu_features *f, const char *name, const char *profile,
                     unsigned count, const struct plugin_share *share, json_t *labels)
{
    CLEANUP_FREE char *product = with_dashes(f->product);
    gpu_features_set_of(labels, name, "product", "%s%s%s%s", product, *profile ? "-MIG-" : "",
                        profile, share->how != SHARING_NONE && !share->renamed ? "-SHARED" : "");
    if (count)
        gpu_features_set_of(labels, name, "count", "%u", count);
    gpu_features_set_of(labels, name, "replicas", "%u", share->replicas);
    gpu_features_set_of(labels, name, "sharing-strategy", "%s", plugin_sharing_name(share->how));
}

/* Counts units once that are offered several times. */
static unsigned units(unsigned offered, const struct plugin_share *share)
{
    return share->replicas > 1 ? offered / share->replicas : offered;
}

static void whole_gpus(const struct gpu_features *f, json_t *labels)
{
    const struct plugin_share share = share_of(f, RESOURCE_GPU, f->all_divided);
    resource(f, RESOURCE_GPU, "", f->gpus, &share, labels);
    if (f->memory_mib)
        gpu_features_set_of(labels, RESOURCE_GPU, "memory", "%u", f->memory_mib);
}

/* With strategy single, each resource unit is a slice. Its kind must be known; otherwise no label
 * is set. */
static void slices_of_one_kind(const struct gpu_features *f, json_t *labels)
{
    const struct plugin_share share = share_of(f, RESOURCE_GPU, false);
    if (*f->slice)
        resource(f, RESOURCE_GPU, f->slice, units(f->slices, &share), &share, labels);
}

/* Each kind is its own resource: "1g.10gb=7" is of RESOURCE_MIG "1g.10gb". */
static void slices_of_kinds(const struct gpu_features *f, json_t *labels)
{
    for (const char *at = f->kinds; *at; at += strcspn(at, ","), at += *at == ',') {
        char profile[RESOURCE_MAX], name[RESOURCE_MAX + sizeof RESOURCE_MIG];
        unsigned offered;
        if (sscanf(at, "%63[^=,]=%9u", profile, &offered) != 2)
            continue;
        snprintf(name, sizeof name, RESOURCE_MIG "%s", profile);
        const struct plugin_share share = share_of(f, name, false);
        resource(f, name, profile, units(offered, &share), &share, labels);
    }
}

static void machine(const struct gpu_features *f, json_t *labels)
{
    CLEANUP_FREE char *name = with_dashes(f->machine);
    if (*name)
        set(labels, LABEL_GPU_MACHINE, name);
}

/* Labels that describe the GPUs need the product: numbers alone mean nothing. */
void gpu_feature_labels(const struct gpu_features *f, json_t *labels)
{
    versions(f, labels);
    if (!*f->product)
        return;
    bool single = str_eq(f->strategy, "single");
    kind(f, labels);
    machine(f, labels);
    if (!str_eq(f->strategy, "none"))
        set(labels, LABEL_MIG_STRATEGY, f->strategy);
    if (single && (f->divided || *f->slice))
        slices_of_one_kind(f, labels);
    else
        whole_gpus(f, labels);
    if (str_eq(f->strategy, "mixed"))
        slices_of_kinds(f, labels);
}

bool gpu_feature_is(const char *key)
{
    static const char *const keys[] = {
        LABEL_GPU_PRODUCT,      LABEL_GPU_COUNT,        LABEL_GPU_MEMORY,     LABEL_GPU_FAMILY,
        LABEL_GPU_MACHINE,      LABEL_GPU_REPLICAS,     LABEL_GPU_SHARING,    LABEL_COMPUTE_MAJOR,
        LABEL_COMPUTE_MINOR,    LABEL_DRIVER_MAJOR,     LABEL_DRIVER_MINOR,   LABEL_DRIVER_REVISION,
        LABEL_DRIVER_FULL,      LABEL_CUDA_MAJOR,       LABEL_CUDA_MINOR,     LABEL_CUDA_FULL,
        LABEL_OLD_DRIVER_MAJOR, LABEL_OLD_DRIVER_MINOR, LABEL_OLD_DRIVER_REV, LABEL_OLD_CUDA_MAJOR,
        LABEL_OLD_CUDA_MINOR,   LABEL_MIG_CAPABLE,      LABEL_MIG_STRATEGY,
    };
    static const char *const of_kinds[] = { ".product", ".count", ".replicas",
                                            ".sharing-strategy" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (str_eq(keys[i], key))
            return true;
    for (size_t i = 0; str_has_prefix(key, RESOURCE_MIG) && i < ARRAY_LEN(of_kinds); i++)
        if (str_has_suffix(key, of_kinds[i]))
            return true;
    return false;
}
