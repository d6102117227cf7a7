/* Any os-release: what is shown of it is printable, bounded, and never empty. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/inventory/os.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t max)
{
    if (!text)
        return;
    if (!*text || strlen(text) > max)
        abort();
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct os_release os;
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    os_release_parse(&a, (struct part){ text, size }, &os);
    free(text);
    check(os.id, OS_WORD_MAX);
    check(os.version, OS_WORD_MAX);
    check(os.variant, OS_WORD_MAX);
    check(os.name, OS_NAME_MAX);
    return 0;
}
