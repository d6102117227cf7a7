/* Resolves the images of a policy, with the built-in defaults. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "reconcilers/model/policy.h"

/* "repository/name", each from the first source that has it. */
static char *image_path(const json_t *operand_spec, const struct operand_image *builtin,
                        const char *known_image)
{
    const char *repository = json_str(operand_spec, "repository");
    const char *name = json_str(operand_spec, "image");
    const char *slash = known_image ? strrchr(known_image, '/') : NULL;
    CLEANUP_FREE char *known_repository = slash ? xstrndup(known_image,
                                                           (size_t) (slash - known_image))
                                                : NULL;

    if (!repository)
        repository = slash ? known_repository : builtin->repository;
    if (!name)
        name = slash ? slash + 1 : builtin->image;
    return xasprintf("%s/%s", repository, name);
}

void policy_image_resolve(const json_t *spec, enum operand operand, const char *known_image,
                          const char *known_version, struct policy_image *ret)
{
    const struct operand_image *builtin = &operand_get(operand)->image;
    const json_t *operand_spec = json_at(spec, operand_get(operand)->section);
    const char *version = json_str(operand_spec, "version");

    if (!version)
        version = known_version ? known_version : builtin->version;
    *ret = (struct policy_image){
        .image = image_path(operand_spec, builtin, known_image),
        .version = xstrdup(version),
    };
}

void policy_image_clear(struct policy_image *image)
{
    free(image->image);
    free(image->version);
    *image = (struct policy_image){ 0 };
}

bool policy_names_sample(const json_t *spec)
{
    const json_t *part = json_object_get(spec, operand_get(OPERAND_VALIDATION)->section);
    return json_str(part, "repository") || json_str(part, "image") || json_str(part, "version");
}
