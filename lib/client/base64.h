/* Base64 as RFC 4648 has it, standard alphabet with padding; white space, as long lines of YAML and PEM bring it, is skipped. */
#ifndef OSTLER_CLIENT_BASE64_H
#define OSTLER_CLIENT_BASE64_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Appends what the text stands for; false when it is no base64 or the buffer is full. */
bool base64_decode(const char *text, size_t len, struct buf *out);
/* The text that stands for these bytes, on one line. Owned by the caller. */
char *base64_encode(const char *bytes, size_t len);

#endif
