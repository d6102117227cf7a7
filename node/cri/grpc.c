#include "node/cri/grpc.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* PREFIX: before each message, a compression flag and the length (gRPC over HTTP/2,
 * "Length-Prefixed-Message"). */
enum { PREFIX = 5, STATUS_UNIMPLEMENTED = 12, REASON_MAX = 1024, READ_MAX = 16 * 1024 };

struct call {
    struct buf framed; /* the request with its prefix */
    size_t sent;
    struct buf *answer; /* the response with its prefix */
    char reason[REASON_MAX];
    int status; /* gRPC status; below 0: not received */
    bool is_too_large, has_ended;
};

/* ---- callbacks of nghttp2 */

static ssize_t on_body_wanted(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
                              uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void) session, (void) stream, (void) source;
    struct call *call = arg;
    size_t n = call->framed.len - call->sent;
    n = n < size ? n : size;
    memcpy(to, call->framed.data + call->sent, n);
    call->sent += n;
    if (call->sent == call->framed.len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t) n;
}

/* Decodes bytes in the form %XX (gRPC over HTTP/2, "Percent-Encoded"). */
static void grpc_decode(const uint8_t *text, size_t len, char *to, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < size; i++) {
        char hex[3] = { 0 }, *end = hex;
        if (text[i] == '%' && len - i > 2)
            memcpy(hex, text + i + 1, 2);
        char byte = (char) strtoul(hex, &end, 16);
        bool is_byte = end == hex + 2;
        to[n++] = is_byte ? byte : (char) text[i];
        i += is_byte ? 2 : 0;
    }
    to[n] = '\0';
}

/* Also called for trailers. */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
    (void) session, (void) frame, (void) flags;
    struct call *call = arg;
    (void) name_len; /* nghttp2 terminates names and values with NUL */
    if (str_eq((const char *) name, "grpc-status"))
        call->status = atoi((const char *) value);
    if (str_eq((const char *) name, "grpc-message"))
        grpc_decode(value, len, call->reason, sizeof call->reason);
    return 0;
}

static int on_body(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t n, void *arg)
{
    (void) session, (void) flags, (void) stream;
    struct call *call = arg;
    call->is_too_large |= !buf_add(call->answer, bytes, n);
    return call->is_too_large ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_end(nghttp2_session *session, int32_t stream, uint32_t error, void *arg)
{
    (void) session, (void) stream, (void) error;
    ((struct call *) arg)->has_ended = true;
    return 0;
}

static nghttp2_session *session_new(struct call *call)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_session *session = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_body);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_end);
    if (nghttp2_session_client_new(&session, callbacks, call) != 0)
        session = NULL;
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

#define HEADER(name, value)                                                                        \
    {                                                                                              \
        (uint8_t *) (name), (uint8_t *) (value), sizeof(name) - 1, strlen(value),                  \
            NGHTTP2_NV_FLAG_NONE                                                                   \
    }

static bool grpc_submit(nghttp2_session *session, const char *method)
{
    const nghttp2_nv headers[] = {
        HEADER(":method", "POST"),
        HEADER(":scheme", "http"),
        HEADER(":path", method),
        HEADER(":authority", "localhost"),
        HEADER("content-type", "application/grpc"),
        HEADER("te", "trailers"),
    };
    const nghttp2_data_provider body = { .read_callback = on_body_wanted };
    return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, NULL, 0) == 0 &&
           nghttp2_submit_request(session, NULL, headers, ARRAY_LEN(headers), &body, NULL) > 0;
}

/* ---- the socket */

int grpc_connect(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t len = strlen(path);
    if (len >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, len);
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *) &address, sizeof address);
    return rc < 0 ? -1 : TAKE_FD(fd);
}

static int grpc_await(int fd, short events, int64_t until_ms, const char *path, struct err *e)
{
    struct pollfd socket = { .fd = fd, .events = events };
    int64_t left_ms = until_ms - clock_now_ms();
    if (left_ms > 0 && poll(&socket, 1, (int) left_ms) > 0)
        return 0;
    return err_set(e, ERR_TIMEOUT, "no answer on %s in time", path);
}

static int no_grpc(const char *path, const char *why, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, "the server on %s does not speak gRPC: %s", path, why);
}

static int send_all(nghttp2_session *session, int fd, int64_t until_ms, const char *path,
                    struct err *e)
{
    const uint8_t *bytes;
    ssize_t len;
    while ((len = nghttp2_session_mem_send(session, &bytes)) > 0) {
        for (ssize_t n; len > 0; bytes += n, len -= n) {
            n = send(fd, bytes, (size_t) len, MSG_NOSIGNAL);
            if (n < 0 && errno != EAGAIN)
                return no_grpc(path, strerror(errno), e);
            if (n < 0 && grpc_await(fd, POLLOUT, until_ms, path, e) < 0)
                return -1;
            n = n < 0 ? 0 : n;
        }
    }
    return 0;
}

static int receive(nghttp2_session *session, int fd, int64_t until_ms, const char *path,
                   struct err *e)
{
    uint8_t bytes[READ_MAX];
    if (grpc_await(fd, POLLIN, until_ms, path, e) < 0)
        return -1;
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n < 0)
        return no_grpc(path, strerror(errno), e);
    if (n == 0)
        return no_grpc(path, "it closed the connection", e);
    ssize_t taken = nghttp2_session_mem_recv(session, bytes, (size_t) n);
    return taken < 0 ? no_grpc(path, nghttp2_strerror((int) taken), e) : 0;
}

static int talk(nghttp2_session *session, const struct call *call, int fd, int64_t until_ms,
                const char *path, struct err *e)
{
    int rc = 0;
    while (rc == 0 && !call->has_ended) {
        rc = send_all(session, fd, until_ms, path, e);
        if (rc == 0 && !nghttp2_session_want_read(session)) /* the input is not HTTP/2 */
            rc = no_grpc(path, "another protocol", e);
        if (rc == 0)
            rc = receive(session, fd, until_ms, path, e);
    }
    if (call->is_too_large)
        return err_set(e, ERR_TOO_LARGE, "the answer on %s is longer than %zu bytes", path,
                       call->answer->max);
    return rc;
}

/* ---- calls */

static bool frame(const struct buf *message, struct buf *framed)
{
    const unsigned char prefix[PREFIX] = { 0, (unsigned char) (message->len >> 24),
                                           (unsigned char) (message->len >> 16),
                                           (unsigned char) (message->len >> 8),
                                           (unsigned char) message->len };
    return buf_add(framed, prefix, sizeof prefix) && buf_add(framed, message->data, message->len);
}

/* Removes the prefix of a response, which must be uncompressed. */
static int unframe(const struct call *call, const char *method, struct err *e)
{
    const unsigned char *at = (const unsigned char *) buf_text(call->answer);
    if (call->status)
        return err_set(e, call->status == STATUS_UNIMPLEMENTED ? ERR_NOT_FOUND : ERR_SERVER,
                       "%s: %s (gRPC status %d)", method,
                       *call->reason ? call->reason : "no reason was given", call->status);
    if (call->answer->len < PREFIX || at[0] != 0 ||
        ((size_t) at[1] << 24 | (size_t) at[2] << 16 | (size_t) at[3] << 8 | at[4]) !=
            call->answer->len - PREFIX)
        return err_set(e, ERR_INVALID, "%s: the answer is not a gRPC message", method);
    buf_consume(call->answer, PREFIX);
    return 0;
}

int grpc_call(const char *socket, const char *method, const struct buf *message, int64_t limit_ms,
              struct buf *answer, struct err *e)
{
    struct call call = { .framed = BUF_INIT(PREFIX + message->max),
                         .answer = answer,
                         .status = -1 };
    int64_t until_ms = clock_now_ms() + limit_ms;
    buf_reset(answer);
    nghttp2_session *session = frame(message, &call.framed) ? session_new(&call) : NULL;
    CLEANUP_FD int fd = grpc_connect(socket);
    int rc = fd < 0 ? err_set(e, ERR_UNREACHABLE, "no server answers on %s", socket)
             : session && grpc_submit(session, method)
                 ? talk(session, &call, fd, until_ms, socket, e)
                 : err_set(e, ERR_SYSTEM, "%s cannot be called", method);
    nghttp2_session_del(session);
    buf_clear(&call.framed);
    return rc == 0 ? unframe(&call, method, e) : rc;
}
