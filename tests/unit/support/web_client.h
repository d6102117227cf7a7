/* A browser for tests of a server that runs in the same thread: while it waits, the server gets its
 * turns. */
#ifndef OSTLER_TESTS_SUPPORT_WEB_CLIENT_H
#define OSTLER_TESTS_SUPPORT_WEB_CLIENT_H

#include <stdbool.h>

#include "base/buf.h"

struct web_client {
    int port;
    void (*turn)(void *arg); /* serves, and waits for some milliseconds at most */
    void *arg;
};

/* A new connection; the caller closes it. */
int web_dial(const struct web_client *c);
/* Sends a text, all of it. */
void web_say(int fd, const char *bytes);
/* Gives the server some turns. */
void web_turns(const struct web_client *c, int count);
/* Reads until the text has `end` (NULL: until the server closes); false: not within five
 * seconds. */
bool web_read(const struct web_client *c, int fd, const char *end, struct buf *out);
/* Sends a request on a new connection, and reads all that comes back. */
void web_exchange(const struct web_client *c, const char *request, struct buf *out);

#endif
