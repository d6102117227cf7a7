#include "reconcilers/model/driver_images.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/driver_images_table.h"
#include "reconcilers/model/operand.h"
#include "tests/unit/support/suite.h"

struct image_row {
    const char *name;
    const char *inputs;
    const char *problem; /* part of the wanted sentence; NULL: none */
};

#define COMPILED(version, os)                                                                      \
    "{\"image\": \"nvcr.io/nvidia/driver\", \"version\": \"" version "\", \"os\": \"" os           \
    "\", \"precompiled\": false}"
#define PRECOMPILED(branch, kernel, os)                                                            \
    "{\"image\": \"nvcr.io/nvidia/driver\", \"version\": \"" branch "\", \"kernel\": \"" kernel    \
    "\", \"os\": \"" os "\", \"precompiled\": true}"

static void check(void **state)
{
    const struct image_row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_JSON json_t *inputs = json_parse(row->inputs, strlen(row->inputs), NULL);
    assert_non_null(inputs);
    const char *problem = driver_images_problem(&a, inputs);
    if (!problem != !row->problem || (problem && !strstr(problem, row->problem)))
        fail_msg("\"%s\" in place of \"%s\"", str_or_empty(problem), str_or_empty(row->problem));
}

static const struct image_row rows[] = {
    { "a published image", COMPILED("580.178.04", "ubuntu24.04"), NULL },
    { "RHEL by its major version", COMPILED("580.178.04", "rhel9"), NULL },
    { "RHCOS 4.18", COMPILED("580.178.04", "rhcos4.18"), NULL },
    { "Ubuntu 26.04 has later versions", COMPILED("580.178.04", "ubuntu26.04"),
      "no image nvcr.io/nvidia/driver:580.178.04-ubuntu26.04: set driver.version to 595.91.07 or "
      "610.57.04" },
    { "Ubuntu 26.04 with a later version", COMPILED("595.91.07", "ubuntu26.04"), NULL },
    { "Ubuntu 20.04 was dropped", COMPILED("580.178.04", "ubuntu20.04"), "driver.source to Host" },
    { "RHCOS 4.17 was dropped", COMPILED("580.178.04", "rhcos4.17"),
      "driver:580.178.04-rhcos4.17" },
    { "a part of a name is no name", COMPILED("580.178.04", "ubuntu24"), "580.178.04-ubuntu24," },
    { "of an unknown version nothing is said", COMPILED("570.86.15", "ubuntu20.04"), NULL },
    { "of a digest nothing is said", COMPILED("sha256:0123", "ubuntu26.04"), NULL },
    { "of another repository nothing is said",
      "{\"image\": \"registry.example.com/driver\", \"version\": \"580.178.04\", \"os\": "
      "\"ubuntu26.04\"}",
      NULL },
    { "of Google's installer nothing is said", "{\"source\": \"COS\", \"version\": \"580.178.04\"}",
      NULL },
    { "a precompiled image", PRECOMPILED("580", "6.8.0-49-generic", "ubuntu24.04"), NULL },
    { "a flavour of two words", PRECOMPILED("580", "6.8.0-1015-azure-fde", "ubuntu24.04"), NULL },
    { "a flavour that one system lacks", PRECOMPILED("580", "6.8.0-1015-azure-fde", "ubuntu22.04"),
      "azure-fde-ubuntu22.04" },
    { "no precompiled image for GKE's kernels", PRECOMPILED("580", "6.8.0-1029-gke", "ubuntu24.04"),
      "precompiled image nvcr.io/nvidia/driver:580-6.8.0-1029-gke-ubuntu24.04: set "
      "driver.precompiled to false" },
    { "a kernel that is none of the system's own",
      PRECOMPILED("580", "6.11.0-17-generic", "ubuntu24.04"), "6.11.0-17-generic" },
    { "a kernel without a flavour", PRECOMPILED("580", "6.8.0", "ubuntu24.04"),
      "580-6.8.0-ubuntu24.04" },
    { "a kernel that is empty", PRECOMPILED("580", "", "ubuntu24.04"), "580--ubuntu24.04" },
    { "precompiled RHEL is built by its users",
      PRECOMPILED("580", "5.14.0-503.el9.x86_64", "rhel9"), "rhel9" },
    { "GDRCopy with a driver that is compiled on the node",
      "{\"image\": \"nvcr.io/nvidia/driver\", \"version\": \"580.178.04\", \"os\": \"rhel9\", "
      "\"precompiled\": false, \"gdrcopy\": {}}",
      NULL },
    { "no GDRCopy with a precompiled driver, whosever image it is",
      "{\"image\": \"registry.example.com/driver\", \"version\": \"580\", \"precompiled\": true, "
      "\"gdrcopy\": {}}",
      "GDRCopy does not work with a precompiled driver: set driver.gdrcopy.enabled or "
      "driver.precompiled to false" },
    { "of an unknown branch nothing is said", PRECOMPILED("550", "6.8.0-1029-gke", "ubuntu24.04"),
      NULL },
    { "of a precompiled digest nothing is said",
      PRECOMPILED("sha256:0123", "6.8.0-1029-gke", "ubuntu24.04"), NULL },
};

/* A newer driver cannot become the default without its systems. */
static void knows_the_default_version(void **state)
{
    (void) state;
    const struct operand_image *builtin = &operand_get(OPERAND_DRIVER)->image;
    CLEANUP_FREE char *builtin_image = xasprintf("%s/%s", builtin->repository, builtin->image);
    static const char *const versions[] = {
#define ROW(version, systems) version,
        DRIVER_IMAGES(ROW)
#undef ROW
    };
    assert_string_equal(builtin_image, DRIVER_IMAGES_IMAGE);
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        known |= str_eq(versions[i], builtin->version);
    assert_true(known);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "the default version is known", knows_the_default_version, NULL);
    return suite_run(&s, "driver_images");
}
