/* The interface's messages: requests are written, answers are read within limits. */
#ifndef OSTLER_NODE_CRI_MESSAGES_H
#define OSTLER_NODE_CRI_MESSAGES_H

#include "node/cri/cri.h"

/* RunPodSandboxRequest. False: it passes the buffer's limit. */
bool cri_write_sandbox(struct buf *b, const struct cri_sandbox *sandbox) __attribute__((warn_unused_result));
/* StopPodSandboxRequest and RemovePodSandboxRequest, which are alike. False as above. */
bool cri_write_id(struct buf *b, const char *id) __attribute__((warn_unused_result));
/* RunPodSandboxResponse. False: it is none, or names no sandbox. */
bool cri_read_id(const struct buf *answer, char ret[CRI_ID_MAX]);
/* StatusResponse. A condition that it does not have is not true. False: it is none. */
bool cri_read_status(const struct buf *answer, struct cri_status *ret);

#endif
