/* Any text as a claim: no crash; what is read as one is written as a text that is read as the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/claim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *text = xstrndup((const char *) data, size);
    char why[CLAIM_WHY_MAX] = "";
    struct claim c, back;
    if (!claim_parse(text, &c, why)) {
        if (!*why)
            abort();
        return 0;
    }
    CLEANUP_FREE char *again = claim_text(&c);
    if (*why || !claim_parse(again, &back, NULL) || !str_eq(c.more, back.more))
        abort();
    CLEANUP_FREE char *once_more = claim_text(&back);
    if (!str_eq(again, once_more))
        abort();
    return 0;
}
