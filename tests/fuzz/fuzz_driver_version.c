/* Anything that a driver may say of itself and of a card: a version is digits and dots, and what is
 * shown is printable and bounded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/inventory/pci.h"
#include "node/inventory/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t max)
{
    if (text && (!*text || strlen(text) > max))
        abort();
    for (; text && *text; text++)
        if (*text < ' ' || *text > '~')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct driver_version v;
    struct pci_device gpu = { .minor = -1 };
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    if (driver_version_parse((struct part){ text, size }, &v))
        for (size_t i = 0; i < v.version.len; i++)
            if (!strchr("0123456789.", v.version.at[i]))
                abort();
    gpu_parse(&a, (struct part){ text, size }, &gpu);
    free(text);
    check(gpu.product, CARD_PRODUCT_MAX);
    check(gpu.uuid, CARD_UUID_MAX);
    if (gpu.minor < -1 || gpu.minor > 255)
        abort();
    return 0;
}
