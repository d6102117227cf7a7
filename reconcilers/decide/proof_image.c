#include "reconcilers/decide/proof_image.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* Driver branches that cannot run the built-in sample, oldest first: CUDA 12 needs branch 525 or
 * newer, CUDA 11 branch 450 (NVIDIA's table of minor version compatibility, CUDA 12 release notes).
 * The sample tags are those of NVIDIA's documents for these branches. */
static const struct {
    int64_t below;       /* for branches older than this */
    const char *version; /* of the built-in image */
} legacy[] = {
    { 525, "vectoradd-cuda11.7.1-ubuntu20.04" },
};

/* The branch of a version, "470" of "470.256.02"; 0: not known. */
static int64_t branch_of(const char *version)
{
    int64_t branch = 0;
    char *dot;
    CLEANUP_FREE char *text = xstrdup(str_or_empty(version));
    char *rest = text;
    dot = strsep(&rest, ".");
    return str_parse_int(dot, 1, INT32_MAX, &branch) ? branch : 0;
}

static const char *legacy_version(int64_t branch)
{
    for (size_t i = 0; i < ARRAY_LEN(legacy); i++)
        if (branch && branch < legacy[i].below)
            return legacy[i].version;
    return NULL;
}

char *proof_image(const struct policy *policy, const json_t *driver_inputs)
{
    if (!policy_names_sample(policy->spec))
        return NULL;
    const json_t *given = json_object_get(policy->spec, operand_get(OPERAND_VALIDATION)->section);
    const char *fits = json_str(given, "image")
                           ? NULL
                           : legacy_version(branch_of(json_str(driver_inputs, "version")));
    struct policy_image image;
    policy_image_resolve(policy->spec, OPERAND_VALIDATION, NULL, fits, &image);
    bool digest = str_has_prefix(image.version, "sha256:");
    char *reference = xasprintf("%s%s%s", image.image, digest ? "@" : ":", image.version);
    policy_image_clear(&image);
    return reference;
}
