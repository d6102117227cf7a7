/* Descriptors that are no clients, watched by libwebsockets beside them; and what the library says. */
#ifndef OSTLER_SERVE_SOURCE_H
#define OSTLER_SERVE_SOURCE_H

#include <libwebsockets.h>

/* In libwebsockets' per-descriptor memory. */
struct source {
    void (*on_readable)(void *arg);
    void *arg;
};

/* The vhost of a server, and the name of the protocol by which its sources go. */
#define SOURCE_VHOST "default"
#define SOURCE_NAME "source"
/* The row of a server's protocols for its sources. */
#define SOURCE_PROTOCOL { .name = SOURCE_NAME, .callback = source_callback, .per_session_data_size = sizeof(struct source) }

/* Called by libwebsockets, as the row says. */
int source_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len);
/* Calls `on_readable` when the descriptor is readable. libwebsockets owns `fd` afterwards, also when this fails: then NULL. */
struct lws *source_adopt(struct lws_context *context, int fd, void (*on_readable)(void *arg), void *arg);
/* What libwebsockets reports goes to our log at level debug: it is mostly what clients do wrong, which must not fill it. */
void source_log_library(void);

#endif
