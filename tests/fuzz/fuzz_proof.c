/* Any text as a pod's last words and as a node's annotation: no crash; what is read is within its
 * bounds, is written as a text that is read as the same, and makes labels that the API server
 * takes. So does any text as names, slices and a configuration. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/gpu_features.h"
#include "reconcilers/model/plugin_settings.h"
#include "reconcilers/model/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* At most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends; or nothing. */
static bool is_label_value(const char *value)
{
    static const char ends[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t len = strlen(value);
    for (size_t i = 0; i < len; i++)
        if (!strchr(ends, value[i]) && !strchr("-_.", value[i]))
            return false;
    return len == 0 || (len <= 63 && strchr(ends, value[0]) && strchr(ends, value[len - 1]));
}

static void check_labels(const struct proof *p, const char *text)
{
    const struct proof_facts *facts = &p->facts;
    CLEANUP_JSON json_t *inputs = json_object(), *labels = json_object();
    json_set_at(inputs, "devicePlugin.config.text", json_text(text));
    CLEANUP_JSON json_t *settings = plugin_settings_of(inputs);
    struct gpu_features f = { .driver = facts->driver,
                              .cuda = facts->cuda,
                              .compute = facts->compute,
                              .machine = text,
                              .product = *facts->product ? facts->product : text,
                              .slice = facts->slice,
                              .slices = p->gpus,
                              .kinds = text,
                              .memory_mib = facts->memory_mib,
                              .gpus = p->gpus,
                              .settings = settings,
                              .strategy = plugin_mig_strategy(inputs, settings) };
    const char *key;
    json_t *value;
    gpu_feature_labels(&f, labels);
    f.strategy = "mixed";
    gpu_feature_labels(&f, labels);
    json_object_foreach (labels, key, value)
        if (!is_label_value(str_or_empty(json_string_value(value))) || !gpu_feature_is(key))
            abort();
}

static void check_text(const struct proof *p)
{
    struct proof back;
    CLEANUP_FREE char *text = proof_text(p);
    if (!proof_parse(text, &back))
        abort();
    CLEANUP_FREE char *again = proof_text(&back);
    if (!str_eq(text, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *text = xstrndup((const char *) data, size);
    struct proof p = { .way = PROOF_BY_POD, .gpus = 8, .of = { { "abcdefghij", "0123456789" } } };
    proof_read(text, &p.facts);
    check_text(&p);
    check_labels(&p, text);
    proof_version_fits(text, p.facts.driver);
    if (proof_parse(text, &p)) {
        check_text(&p);
        check_labels(&p, text);
    }
    return 0;
}
