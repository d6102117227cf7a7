/* Any text in the place of the driver's list of MIG devices: each line that is taken names a path
 * within the text that leads nowhere but down. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/operand/mig_devices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    struct part rest = { text, size };
    struct mig_minor m;
    while (mig_minors_next(&rest, &m))
        if (m.gpu < -1 || m.path.len == 0 || m.path.at < text ||
            m.path.at + m.path.len > text + size || memchr(m.path.at, '.', m.path.len) ||
            memchr(m.path.at, ' ', m.path.len))
            abort();
    free(text);
    return 0;
}
