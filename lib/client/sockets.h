/* The TCP connections of one libcurl handle, known by their descriptors: libcurl hides them, and some must be ended
 * from outside. */
#ifndef OSTLER_CLIENT_SOCKETS_H
#define OSTLER_CLIENT_SOCKETS_H

#include <stddef.h>

/* Zero-initialised = none. */
struct sockets {
    int *fds;
    size_t len;
    size_t cap;
};

/* Makes a socket that notices when the other side is gone, and remembers it. -1 on failure. */
int sockets_open(struct sockets *s, int family, int type, int protocol);
/* Closes one and forgets it. */
void sockets_close(struct sockets *s, int fd);
/* Shuts all of them down: what runs on them fails. */
void sockets_drop(struct sockets *s);
/* Frees the list; the sockets must be closed. */
void sockets_clear(struct sockets *s);

#endif
