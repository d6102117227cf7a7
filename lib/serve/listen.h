/* Opens a listening TCP socket for an address in text form. */
#ifndef OSTLER_SERVE_LISTEN_H
#define OSTLER_SERVE_LISTEN_H

#include <stdbool.h>

#include "base/err.h"

/* Whether the text is a valid address for listen_on(). */
bool listen_is_address(const char *text);
/* Listens on "IP:port" (":8080": every address; "[::1]:8080"; port 0: the system chooses).
 * Returns a non-blocking descriptor, or -1 with an error that names the address and `option`, which
 * sets it. */
int listen_on(const char *address, const char *option, struct err *e);
/* The port of a listening descriptor. */
int listen_port(int fd);

#endif
