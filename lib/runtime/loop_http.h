/* Connects an HTTP client to a loop: its descriptor, and its deadline as a timer. */
#ifndef OSTLER_RUNTIME_LOOP_HTTP_H
#define OSTLER_RUNTIME_LOOP_HTTP_H

#include "client/http.h"
#include "runtime/loop.h"

/* Must not move once added. */
struct loop_http {
    struct loop *loop;
    struct http *http;
    struct timer due;
};

/* Lets the loop drive the client. Register other loop_on_turn() work first. Both are borrowed;
 * free the client before the loop. */
void loop_http_add(struct loop_http *lh, struct loop *loop, struct http *http);

#endif
