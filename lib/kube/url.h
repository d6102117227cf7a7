/* Percent-encoding of path segments and query values. */
#ifndef OSTLER_KUBE_URL_H
#define OSTLER_KUBE_URL_H

struct buf;

/* Room for any URL: the splitter bounds names and tokens from objects; the server may reject a
 * long URL. */
enum { URL_ROOM = 64 << 20 };

/* Appends `text` and encodes everything but RFC 3986's unreserved characters. */
void url_escape(struct buf *out, const char *text);

#endif
