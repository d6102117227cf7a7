/* Any log gives one short text that can be shown: within its limit, UTF-8, no control characters
 * but ends of lines. Input: one byte for the limit, then the log. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "kube/log_tail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t max = 4 + *data, len = size - 1;
    char *log = malloc(len ? len : 1); /* of its own, so that a byte too far is seen */
    memcpy(log, data + 1, len);
    CLEANUP_FREE char *text = log_tail_cut(log, len, max);
    free(log);
    CLEANUP_JSON json_t *json = json_stringn(text, strlen(text));
    if (!json || strlen(text) > max)
        abort();
    for (const char *c = text; *c; c++)
        if (((unsigned char) *c < ' ' && *c != '\n') ||
            ((unsigned char) *c == 0xc2 && (unsigned char) c[1] < 0xa0))
            abort();
    return 0;
}
