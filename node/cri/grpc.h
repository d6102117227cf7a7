/* A gRPC client over a Unix socket, for container runtimes: unary calls only. */
#ifndef OSTLER_NODE_CRI_GRPC_H
#define OSTLER_NODE_CRI_GRPC_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Connects to the socket; -1: no program answers. */
int grpc_connect(const char *path);
/* One call. `method`: "/package.Service/Method". `answer` is emptied and receives the message of
 * the response; a longer response than its limit is ERR_TOO_LARGE. ERR_NOT_FOUND: the server lacks
 * the method, or is no gRPC server. ERR_UNREACHABLE: no server on the socket. ERR_TIMEOUT: no
 * response within `limit_ms`. ERR_SERVER: the server refused, for the reason in the message. */
int grpc_call(const char *socket, const char *method, const struct buf *message, int64_t limit_ms,
              struct buf *answer, struct err *e);

#endif
