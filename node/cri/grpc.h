/* gRPC over a Unix socket, as container runtimes speak it: one message there, one back. */
#ifndef OSTLER_NODE_CRI_GRPC_H
#define OSTLER_NODE_CRI_GRPC_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* One call. `method`: "/package.Service/Method". The answer's message goes into `answer`, which is emptied first; what passes
 * its limit is ERR_TOO_LARGE. ERR_NOT_FOUND: the server has no such method, or no gRPC. ERR_UNREACHABLE: nobody answers.
 * ERR_TIMEOUT: not within `limit_ms`. ERR_SERVER: the server refused, for the reason in the message. */
int grpc_call(const char *socket, const char *method, const struct buf *message, int64_t limit_ms, struct buf *answer,
              struct err *e);

#endif
