/* Any text or message of the kernel about a device: numbers are as wide as they may be, what is
 * taken lies within it, and a message about a card of NVIDIA is news. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/agent/wakes.h"
#include "node/inventory/uevent.h"

enum { VENDOR_NVIDIA = 0x10de };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct part p, const char *text, size_t size)
{
    if (p.len && (p.at < text || p.at + p.len > text + size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct uevent u;
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    bool is_news = wakes_is_news((struct part){ text, size });
    if (uevent_parse((struct part){ text, size }, &u)) {
        if (u.vendor == VENDOR_NVIDIA && !is_news)
            abort();
        if (u.vendor > 0xffff || u.device > 0xffff || u.class > 0xffffff)
            abort();
        check(u.driver, text, size);
        check(u.address, text, size);
    }
    free(text);
    return 0;
}
