/* Resolves and checks the images of a policy: built-in defaults, and the registries that the
 * administrator allows. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_problems.h"

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

/* Whether `image` equals or is under the prefix of n bytes. */
static bool is_under(const char *image, const char *prefix, size_t n)
{
    while (n > 0 && prefix[n - 1] == '/')
        n--;
    return n > 0 && strncmp(image, prefix, n) == 0 && (image[n] == '/' || image[n] == '\0');
}

bool policy_image_allowed(const char *image, const char *prefixes)
{
    for (const char *p = prefixes; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        if (is_under(image, p, n))
            return true;
        p += n;
    }
    return false;
}

/* The field to name for a wrong image: the one that was set. */
static const char *field_at_fault(const json_t *given)
{
    return json_str(given, "repository") ? "repository" : "image";
}

bool policy_names_sample(const json_t *spec)
{
    const json_t *part = json_object_get(spec, operand_get(OPERAND_VALIDATION)->section);
    return json_str(part, "repository") || json_str(part, "image") || json_str(part, "version");
}

/* Whether a node could run it: it is not switched off, no host or Google driver, and no sample that
 * the policy does not name. */
static bool is_used(const json_t *spec, const struct operand_row *o)
{
    const json_t *part = json_at(spec, o->section);
    const char *source = json_str(part, "source");
    return json_bool(part, "enabled", true) &&
           !str_eq(source, policy_source_name(POLICY_SOURCE_HOST)) &&
           !str_eq(source, policy_source_name(POLICY_SOURCE_COS)) &&
           (o->id != OPERAND_VALIDATION || policy_names_sample(spec));
}

static bool names_image(const json_t *given)
{
    return json_str(given, "repository") || json_str(given, "image");
}

/* Checks the image of one operand. `given`, of the policy or a pool, may name it, or leave it to
 * the default. */
static void check_image(const json_t *spec, enum operand operand, const json_t *given,
                        const struct policy_place *at, const char *prefixes,
                        struct policy_problems *problems)
{
    struct policy_image image;
    policy_image_resolve(spec, operand, NULL, NULL, &image);
    struct policy_place field = { .up = at, .kind = PLACE_FIELD, .name = field_at_fault(given) };
    if (!policy_image_allowed(image.image, prefixes))
        policy_problem_add(
            problems, names_image(given) ? &field : at,
            "%s is not under an allowed prefix; allowed are %s; an administrator adds others with "
            "--allowed-image-prefixes",
            image.image, prefixes);
    policy_image_clear(&image);
}

static void check_pool(const struct policy *policy, size_t pool, const struct policy_place *pools,
                       const char *prefixes, struct policy_problems *problems)
{
    struct policy_place item = { .up = pools, .kind = PLACE_ITEM, .index = pool };
    const json_t *given = json_array_get(json_object_get(policy->spec, "pools"), pool);
    CLEANUP_JSON json_t *spec = policy_pool_spec(policy, pool);
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        struct policy_place at = { .up = &item, .kind = PLACE_FIELD, .name = o->section };
        const json_t *part = json_at(given, o->section);
        if (o->image.image &&
            (names_image(part) || (is_used(spec, o) && !is_used(policy->spec, o))))
            check_image(spec, o->id, part, &at, prefixes, problems);
    }
}

void policy_check_images(const struct policy *policy, const char *prefixes,
                         struct policy_problems *problems)
{
    struct policy_place root = { .kind = PLACE_FIELD, .name = "spec" };
    struct policy_place pools = { .up = &root, .kind = PLACE_FIELD, .name = "pools" };

    for (const struct operand_row *o = operand_rows; o->section; o++) {
        struct policy_place at = { .up = &root, .kind = PLACE_FIELD, .name = o->section };
        const json_t *given = json_at(policy->spec, o->section);
        if (o->image.image && (names_image(given) || is_used(policy->spec, o)))
            check_image(policy->spec, o->id, given, &at, prefixes, problems);
    }
    for (size_t i = 0; i < json_array_size(json_object_get(policy->spec, "pools")); i++)
        check_pool(policy, i, &pools, prefixes, problems);
}
