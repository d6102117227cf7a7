/* Any text of nvidia-smi or of the kernel's list of mounts: what is taken lies within it, is no
 * more than a line, and has no white space at its ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/operand/mounts.h"
#include "node/operand/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct part p, const char *text, size_t size)
{
    if (p.len == 0)
        return;
    if (p.at < text || p.at + p.len > text + size || memchr(p.at, '\n', p.len) ||
        part_trimmed(p).len != p.len)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char place[] = "/run/nvidia/driver";
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    struct part all = { text, size };
    check(proof_first_line(all), text, size);
    check(proof_cuda_version(all), text, size);
    check(proof_slice(all), text, size);
    if (mounts_has(all, place) && !part_find(all, place))
        abort();
    struct buf folders = BUF_INIT(64 * 1024);
    if (mounts_add_folders(all, "libcuda.so.", &folders) != (folders.len > 0))
        abort();
    buf_clear(&folders);
    free(text);
    return 0;
}
