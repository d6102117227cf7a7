/* Anything in the place of the copies of files: what is taken of it lies within limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/operand/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    struct kept kept = { 0 };
    bool right = kept_read(&kept, text, size);
    size_t bytes = 0;
    for (size_t i = 0; i < kept.len; i++) {
        bytes += kept.files[i].bytes.len;
        if (right &&
            (kept.files[i].path[0] != '/' || (!kept.files[i].is_there && kept.files[i].bytes.len)))
            abort();
    }
    if (bytes > size || kept.len > KEPT_FILES_MAX)
        abort();
    kept_clear(&kept);
    free(text);
    return 0;
}
