/* Anything that is left in the place of NVML's words: each line that is taken is about a card, is
 * bounded, and lies within the text. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/inventory/nvml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct part p, size_t max, const char *text, size_t size)
{
    if (p.len == 0 || p.len > max || p.at < text || p.at + p.len > text + size)
        abort();
    for (size_t i = 0; i < p.len; i++)
        if (!isgraph((unsigned char) p.at[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    struct part rest = { text, size };
    struct nvml_line line;
    if (nvml_is_whole(rest) && (size < 4 || memcmp(text + size - 4, "end\n", 4) != 0))
        abort();
    while (nvml_next(&rest, &line)) {
        check(line.uuid, NVML_UUID_MAX, text, size);
        if (line.memory_mib < 0 || line.memory_mib > 1 << 24)
            abort();
        if (line.memory_mib)
            continue;
        check(line.profile, NVML_PROFILE_MAX, text, size);
        check(line.mig_uuid, NVML_UUID_MAX, text, size);
    }
    free(text);
    return 0;
}
