/* Any text as a pod's last words and as a node's annotation: no crash; what is read is within its bounds, is written as a text
 * that is read as the same, and makes labels that the API server takes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
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

static void check_labels(const struct proof *p)
{
    CLEANUP_JSON json_t *labels = json_object();
    const char *key;
    json_t *value;
    proof_labels(p, labels);
    json_object_foreach (labels, key, value)
        if (!is_label_value(str_or_empty(json_string_value(value))))
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
    struct proof p = { .way = PROOF_BY_POD, .gpus = 8, .driver = "abcdefghij", .stack = "0123456789" };
    proof_read(text, &p.facts);
    check_text(&p);
    check_labels(&p);
    proof_version_fits(text, p.facts.driver);
    if (proof_parse(text, &p)) {
        check_text(&p);
        check_labels(&p);
    }
    return 0;
}
