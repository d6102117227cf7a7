/* The image of the proof, by what the policy says of it and by the driver that it has to run with. */
#include "reconcilers/plan/proof_image.h"

#include <stdlib.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define SAMPLE "nvcr.io/nvidia/k8s/cuda-sample:"
#define LEGACY "vectoradd-cuda11.7.1-ubuntu20.04"
#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct image_row {
    const char *name;
    const char *validation; /* of the spec */
    const char *driver;     /* the driver's inputs; NULL: it brings none of ours */
    const char *want;       /* NULL: the built-in one */
} rows[] = {
    { "a new driver", "{}", "{'version': '580.178.04'}", NULL },
    { "the oldest branch that runs CUDA 12", "{}", "{'version': '525.60.13'}", NULL },
    { "a branch before that", "{}", "{'version': '470.256.02'}", SAMPLE LEGACY },
    { "the last of those", "{}", "{'version': '524'}", SAMPLE LEGACY },
    { "the host's own driver", "{}", NULL, NULL },
    { "a driver by its digest", "{}", "{'version': '" DIGEST "'}", NULL },
    { "a version that is no number", "{}", "{'version': 'latest'}", NULL },
    { "no version at all", "{}", "{}", NULL },
    { "a version of the policy's", "{'version': 'mine'}", "{'version': '580.178.04'}", SAMPLE "mine" },
    { "that counts with an old driver as well", "{'version': 'mine'}", "{'version': '470.256.02'}", SAMPLE "mine" },
    { "a digest", "{'version': '" DIGEST "'}", "{'version': '580.178.04'}", "nvcr.io/nvidia/k8s/cuda-sample@" DIGEST },
    { "an image of the policy's, with an old driver too",
      "{'repository': 'registry.example/a', 'image': 'sample', 'version': '1'}",
      "{'version': '470.256.02'}", "registry.example/a/sample:1" },
    { "from a mirror, for an old driver", "{'repository': 'registry.example/a'}", "{'version': '470.256.02'}",
      "registry.example/a/cuda-sample:" LEGACY },
};

static void decode(const char *validation, struct policy *ret)
{
    CLEANUP_JSON json_t *object = json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion", POLICY_API_VERSION, "kind", POLICY_KIND,
                                            "metadata", "name", POLICY_NAME, "spec", "validation", tree(validation));
    struct policy_problems problems = { 0 };
    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES ",registry.example", "*", NULL, true };
    if (policy_decode(object, &limits, ret, &problems) < 0)
        fail_msg("%s %s", problems.items[0].field, problems.items[0].message);
}

/* What is built in, for comparison. Owned by the caller. */
static char *built_in(void)
{
    struct policy policy;
    decode("{}", &policy);
    char *image = proof_image(&policy, NULL);
    policy_clear(&policy);
    return image;
}

static void check_image(void **state)
{
    const struct image_row *row = *state;
    struct policy policy;
    CLEANUP_JSON json_t *driver = row->driver ? tree(row->driver) : NULL;
    decode(row->validation, &policy);
    CLEANUP_FREE char *image = proof_image(&policy, driver);
    CLEANUP_FREE char *usual = built_in();
    assert_string_equal(image, row->want ? row->want : usual);
    assert_string_not_equal(usual, SAMPLE LEGACY);
    policy_clear(&policy);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_image, rows);
    return suite_run(&s, "proof image");
}
