/* Descriptors other than clients that libwebsockets watches, and the library's log. */
#ifndef OSTLER_SERVE_SOURCE_H
#define OSTLER_SERVE_SOURCE_H

#include <libwebsockets.h>

/* In libwebsockets' memory per descriptor. */
struct source {
    void (*on_readable)(void *arg);
    void *arg;
};

/* A server's vhost, and the protocol name for its sources. */
#define SOURCE_VHOST "default"
#define SOURCE_NAME "source"
/* The protocol row for a server's sources. */
#define SOURCE_PROTOCOL                                                                            \
    {                                                                                              \
        .name = SOURCE_NAME, .callback = source_callback,                                          \
        .per_session_data_size = sizeof(struct source)                                             \
    }

/* The callback in that row. */
int source_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len);
/* Calls `on_readable` when the descriptor is readable. libwebsockets owns `fd` afterwards, also
 * on failure (NULL). */
struct lws *source_adopt(struct lws_context *context, int fd, void (*on_readable)(void *arg),
                         void *arg);
/* Sends libwebsockets' messages to our log at level debug: most are clients' mistakes, which
 * must not flood the log. */
void source_log_library(void);

#endif
