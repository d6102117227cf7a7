/* Anything that a program says in the place of containerd's configuration, before and after,
 * divided by a zero byte: what is told is bounded, and nothing is told where nothing is lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/operand/config_loss.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 2);
    memcpy(text, data, size);
    memset(text + size, 0, 2);
    struct buf lost = BUF_INIT(4096);
    const char *after = text + strlen(text) + 1;
    enum config_loss loss = config_loss(text, after, &lost);
    if (loss != CONFIG_LOST && lost.len > 0)
        abort();
    buf_clear(&lost);
    free(text);
    return 0;
}
