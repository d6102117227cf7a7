/* The TCP connections of one libcurl handle, by descriptor: libcurl hides them, but Ostler must
 * be able to end them. */
#ifndef OSTLER_CLIENT_SOCKETS_H
#define OSTLER_CLIENT_SOCKETS_H

#include <stddef.h>

/* Zero-initialised = none. */
struct sockets {
    int *fds;
    size_t len;
    size_t cap;
};

/* Opens a socket that detects a dead peer, and remembers it. -1 on failure. */
int sockets_open(struct sockets *s, int family, int type, int protocol);
/* Closes a socket and forgets it. */
void sockets_close(struct sockets *s, int fd);
/* Shuts down all sockets: their transfers fail. */
void sockets_drop(struct sockets *s);
/* Frees the list; the sockets must be closed. */
void sockets_clear(struct sockets *s);

#endif
