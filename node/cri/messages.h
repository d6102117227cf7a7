/* Encodes the requests of the Container Runtime Interface and decodes its responses, within
 * limits. */
#ifndef OSTLER_NODE_CRI_MESSAGES_H
#define OSTLER_NODE_CRI_MESSAGES_H

#include "node/cri/cri.h"

/* RunPodSandboxRequest. False: longer than the buffer's limit. */
bool cri_write_sandbox(struct buf *b, const struct cri_sandbox *sandbox)
    __attribute__((warn_unused_result));
/* StopPodSandboxRequest and RemovePodSandboxRequest, which have the same form. False as above. */
bool cri_write_id(struct buf *b, const char *id) __attribute__((warn_unused_result));
/* RunPodSandboxResponse. False: it is malformed, or names no sandbox. */
bool cri_read_id(const struct buf *answer, char ret[CRI_ID_MAX]);
/* StatusResponse. A missing condition is not true. False: it is malformed. */
bool cri_read_status(const struct buf *answer, struct cri_status *ret);

#endif
