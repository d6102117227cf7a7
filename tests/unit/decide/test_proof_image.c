/* The image of the proof: Ostler's own, or a sample, by what the policy says of it and by the
 * driver that it has to run with. */
#include "reconcilers/decide/proof.h"

#include <stdlib.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define SAMPLE "nvcr.io/nvidia/k8s/cuda-sample:"
#define LEGACY "vectoradd-cuda11.7.1-ubuntu20.04"
#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define USUAL "vectoradd-cuda12.5.0-ubuntu22.04"
#define MIRROR "registry.example/a/cuda-sample:"

static const struct image_row {
    const char *name;
    const char *validation; /* of the spec */
    const char *driver;     /* the driver's inputs; NULL: it brings none of ours */
    const char *want;       /* NULL: Ostler's own */
} rows[] = {
    { "nothing is named", "{}", "{'version': '580.178.04'}", NULL },
    { "nothing is named, for an old driver", "{}", "{'version': '470.256.02'}", NULL },
    { "nothing is named, for the host's own driver", "{}", NULL, NULL },
    { "how an image is pulled names none",
      "{'imagePullPolicy': 'Always', 'imagePullSecrets': ['ngc'], 'timeout': '5m'}",
      "{'version': '580.178.04'}", NULL },
    { "the sample by its name", "{'image': 'cuda-sample'}", "{'version': '580.178.04'}",
      SAMPLE USUAL },
    { "from a mirror, a new driver", "{'repository': 'registry.example/a'}",
      "{'version': '580.178.04'}", MIRROR USUAL },
    { "the oldest branch that runs CUDA 12", "{'repository': 'registry.example/a'}",
      "{'version': '525.60.13'}", MIRROR USUAL },
    { "a branch before that", "{'repository': 'registry.example/a'}", "{'version': '470.256.02'}",
      MIRROR LEGACY },
    { "the last of those", "{'repository': 'registry.example/a'}", "{'version': '524'}",
      MIRROR LEGACY },
    { "the host's own driver", "{'repository': 'registry.example/a'}", NULL, MIRROR USUAL },
    { "a driver by its digest", "{'repository': 'registry.example/a'}", "{'version': '" DIGEST "'}",
      MIRROR USUAL },
    { "a version that is no number", "{'repository': 'registry.example/a'}",
      "{'version': 'latest'}", MIRROR USUAL },
    { "no version at all", "{'repository': 'registry.example/a'}", "{}", MIRROR USUAL },
    { "a version of the policy's", "{'version': 'mine'}", "{'version': '580.178.04'}",
      SAMPLE "mine" },
    { "that counts with an old driver as well", "{'version': 'mine'}", "{'version': '470.256.02'}",
      SAMPLE "mine" },
    { "a digest", "{'version': '" DIGEST "'}", "{'version': '580.178.04'}",
      "nvcr.io/nvidia/k8s/cuda-sample@" DIGEST },
    { "an image of the policy's, with an old driver too",
      "{'repository': 'registry.example/a', 'image': 'sample', 'version': '1'}",
      "{'version': '470.256.02'}", "registry.example/a/sample:1" },
};

static void decode(const char *validation, struct policy *ret)
{
    CLEANUP_JSON json_t *object = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion", POLICY_API_VERSION, "kind", POLICY_KIND,
        "metadata", "name", POLICY_NAME, "spec", "validation", tree(validation));
    struct policy_problems problems = { 0 };
    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES ",registry.example", "*", NULL,
                                          true, true };
    if (policy_decode(object, &limits, ret, &problems) < 0)
        fail_msg("%s %s", problems.items[0].field, problems.items[0].message);
}

static void check_image(void **state)
{
    const struct image_row *row = *state;
    struct policy policy;
    CLEANUP_JSON json_t *driver = row->driver ? tree(row->driver) : NULL;
    decode(row->validation, &policy);
    CLEANUP_FREE char *image = proof_image(&policy, driver);
    policy_clear(&policy);
    if (row->want)
        assert_string_equal(image, row->want);
    else
        assert_null(image);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_image, rows);
    return suite_run(&s, "proof image");
}
