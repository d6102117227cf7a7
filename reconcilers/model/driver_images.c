#include "reconcilers/model/driver_images.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/driver_images_table.h"

#define OWN_REGISTRY "set driver.repository to a registry of yours that has the image"
#define OR_HOST                                                                                    \
    "install a driver on the node and set driver.source to Host for its pool, or " OWN_REGISTRY

static const struct compiled {
    const char *version, *systems;
} compiled[] = {
#define ROW(version, systems) { version, systems },
    DRIVER_IMAGES(ROW)
#undef ROW
};

static const struct precompiled {
    const char *branch, *system, *kernels, *flavours;
} precompiled[] = {
#define ROW(branch, system, kernels, flavours) { branch, system, kernels, flavours },
    DRIVER_PRECOMPILED(ROW)
#undef ROW
};

/* Whether a list has a word. Both come from a table or a tag, so words contain no space. */
static bool driver_images_has(const char *list, const char *word, size_t len)
{
    for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
        if (strcspn(at + 1, " ") == len && strncmp(at + 1, word, len) == 0)
            return true;
    return false;
}

/* The versions for a system: "595.91.07 or 610.57.04"; NULL: none is known. */
static const char *versions_of(struct arena *a, const char *system)
{
    const char *text = NULL;
    for (size_t i = 0; i < ARRAY_LEN(compiled); i++)
        if (driver_images_has(compiled[i].systems, system, strlen(system)))
            text = text ? arena_printf(a, "%s or %s", text, compiled[i].version)
                        : compiled[i].version;
    return text;
}

static const char *compiled_problem(struct arena *a, const char *image, const char *version,
                                    const char *system)
{
    const struct compiled *row = compiled;
    while (row < compiled + ARRAY_LEN(compiled) && !str_eq(row->version, version))
        row++;
    if (row == compiled + ARRAY_LEN(compiled) ||
        driver_images_has(row->systems, system, strlen(system)))
        return NULL;
    const char *others = versions_of(a, system);
    return others
               ? arena_printf(a,
                              "NVIDIA publishes no image %s:%s-%s: set driver.version to %s for "
                              "its pool, or " OWN_REGISTRY,
                              image, version, system, others)
               : arena_printf(
                     a, "NVIDIA publishes no image %s:%s-%s, nor one of a later version: " OR_HOST,
                     image, version, system);
}

/* "6.8" of "6.8.0-49-generic". */
static size_t kernel_numbers(const char *kernel)
{
    size_t major = strcspn(kernel, ".");
    return kernel[major] ? major + 1 + strcspn(kernel + major + 1, ".-") : major;
}

/* "generic" of "6.8.0-49-generic", "azure-fde" of "6.8.0-1015-azure-fde"; "": no flavour. */
static const char *flavour_of(const char *kernel)
{
    const char *build = strchr(kernel, '-'), *flavour = build ? strchr(build + 1, '-') : NULL;
    return flavour ? flavour + 1 : "";
}

static bool driver_images_fits(const struct precompiled *row, const char *kernel)
{
    const char *flavour = flavour_of(kernel);
    return driver_images_has(row->kernels, kernel, kernel_numbers(kernel)) &&
           driver_images_has(row->flavours, flavour, strlen(flavour));
}

static const char *precompiled_problem(struct arena *a, const char *image, const json_t *inputs)
{
    const char *branch = json_str_or_empty(inputs, "version"),
               *kernel = json_str_or_empty(inputs, "kernel");
    const char *system = json_str_or_empty(inputs, "os");
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(precompiled); i++) {
        bool same_branch = str_eq(precompiled[i].branch, branch);
        known |= same_branch;
        if (same_branch && str_eq(precompiled[i].system, system) &&
            driver_images_fits(&precompiled[i], kernel))
            return NULL;
    }
    return known ? arena_printf(a,
                                "NVIDIA publishes no precompiled image %s:%s-%s-%s: set "
                                "driver.precompiled to false for its "
                                "pool, or " OWN_REGISTRY,
                                image, branch, kernel, system)
                 : NULL;
}

const char *driver_images_problem(struct arena *a, const json_t *inputs)
{
    const char *image = json_str_or_empty(inputs, "image"),
               *version = json_str_or_empty(inputs, "version");
    if (json_object_get(inputs, "gdrcopy") && json_bool(inputs, "precompiled", false))
        return "NVIDIA's container for GDRCopy does not work with a precompiled driver: set "
               "driver.gdrcopy.enabled or "
               "driver.precompiled to false for its pool";
    if (!str_eq(image, DRIVER_IMAGES_IMAGE))
        return NULL;
    return json_bool(inputs, "precompiled", false)
               ? precompiled_problem(a, image, inputs)
               : compiled_problem(a, image, version, json_str_or_empty(inputs, "os"));
}
