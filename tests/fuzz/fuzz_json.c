/* What json_plain() takes is JSON, and it makes of it what jansson does. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    CLEANUP_JSON json_t *plain = json_plain(text, size);
    if (plain) {
        CLEANUP_JSON json_t *want = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        CLEANUP_FREE char *plain_text = json_compact(plain), *want_text = want ? json_compact(want) : NULL;
        if (!want_text || strcmp(plain_text, want_text) != 0)
            abort();
    }
    free(text);
    return 0;
}
