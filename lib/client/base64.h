/* Base64 of RFC 4648: standard alphabet with padding. It skips white space, which long lines of
 * YAML and PEM contain. */
#ifndef OSTLER_CLIENT_BASE64_H
#define OSTLER_CLIENT_BASE64_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Appends the decoded bytes; false if the text is not base64 or the buffer is full. */
bool base64_decode(const char *text, size_t len, struct buf *out);
/* Encodes bytes on one line. Owned by the caller. */
char *base64_encode(const char *bytes, size_t len);

#endif
