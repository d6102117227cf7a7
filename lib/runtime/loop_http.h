/* An HTTP client on a loop: its descriptor, and its deadline as a timer. */
#ifndef OSTLER_RUNTIME_LOOP_HTTP_H
#define OSTLER_RUNTIME_LOOP_HTTP_H

#include "client/http.h"
#include "runtime/loop.h"

/* May not move once it is added. */
struct loop_http {
    struct loop *loop;
    struct http *http;
    struct timer due;
};

/* From here on the loop drives the client; what others do at the end of a turn (loop_on_turn())
 * they are to have registered before. Both are borrowed; free the client before the loop. */
void loop_http_add(struct loop_http *lh, struct loop *loop, struct http *http);

#endif
