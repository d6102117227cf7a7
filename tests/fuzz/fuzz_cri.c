/* Any bytes as a container runtime's answer: what is taken of it lies within limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/cri/cri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_BUF struct buf answer = BUF_INIT(CRI_ANSWER_MAX);
    char id[CRI_ID_MAX];
    struct cri_status status;
    if (!buf_add(&answer, data, size))
        return 0;
    if (cri_read_id(&answer, id) && (!*id || !memchr(id, '\0', sizeof id)))
        abort();
    cri_read_status(&answer, &status);
    for (size_t i = 0; i < CRI_CONDITIONS; i++)
        if (!memchr(status.why[i], '\0', sizeof status.why[i]))
            abort();
    return 0;
}
