/* Any JSON as a policy: no crash; what is wrong is named within bounds; what is right yields a spec
 * that is right again and the same. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "reconcilers/model/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_problems(const struct policy_problems *problems)
{
    assert(problems->len > 0 && problems->len <= POLICY_PROBLEMS_MAX);
    for (size_t i = 0; i < problems->len; i++) {
        assert(*problems->items[i].field && strlen(problems->items[i].field) <= 512);
        assert(*problems->items[i].message && strlen(problems->items[i].message) <= 512);
    }
    CLEANUP_FREE char *text = policy_problems_text(problems);
    assert(strlen(text) < 32768);
}

/* An effective spec is itself a spec, and its own effective spec. */
static void check_settled(const struct policy *p)
{
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s},s:O}", "metadata", "name", POLICY_NAME,
                                            "spec", p->spec);
    struct policy again;
    struct policy_problems problems = { 0 };
    assert(policy_decode(object,
                         &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true },
                         &again, &problems) == 0);
    assert(json_equal(p->spec, again.spec));
    policy_clear(&again);
}

static void check_valid(const struct policy *p)
{
    assert(policy_pool_of(p, selector_lookup_json, NULL) < p->pools_len);
    for (size_t i = 0; i < p->pools_len; i++) {
        CLEANUP_JSON json_t *spec = policy_pool_spec(p, i);
        struct policy_image image;
        policy_image_resolve(spec, OPERAND_DRIVER, NULL, NULL, &image);
        policy_image_clear(&image);
    }
    check_settled(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *object = json_parse((const char *) data, size, &e);
    struct policy p;
    struct policy_problems problems = { 0 };
    if (policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems) == 0)
        check_valid(&p);
    else
        check_problems(&problems);
    policy_clear(&p);
    policy_problems_clear(&problems);
    return 0;
}
