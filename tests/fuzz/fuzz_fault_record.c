/* Any text as the record of a fault: no crash; what is read as one is written as a text that is
 * read as the same, and shows nothing to users but words and addresses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/fault_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fault_record none;
    CLEANUP_FREE char *text = xstrndup((const char *) data, size);
    struct fault_record r, back;
    if (!fault_record_parse(text, &r)) {
        if (memcmp(&r, &none, sizeof r) != 0)
            abort();
        return 0;
    }
    if (strpbrk(r.reason, " \n<>\"'/{}") || strpbrk(r.address, " \n<>\"'/{}") ||
        r.tries_len > REPAIRS_MAX || (unsigned) r.state >= FAULT_STATES_LEN)
        abort();
    CLEANUP_FREE char *again = fault_record_text(&r);
    if (!again)
        return 0;
    if (strlen(again) >= FAULT_TEXT_MAX || !fault_record_parse(again, &back))
        abort();
    CLEANUP_FREE char *once_more = fault_record_text(&back);
    if (!str_eq(again, once_more))
        abort();
    return 0;
}
