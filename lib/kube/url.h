/* Percent-encoding of path segments and query values. */
#ifndef OSTLER_KUBE_URL_H
#define OSTLER_KUBE_URL_H

struct buf;

/* Room for any URL: names and tokens come from objects, whose size the splitter bounds; refusing a long URL is the
 * server's part. */
enum { URL_ROOM = 64 << 20 };

/* Appends `text` with everything but RFC 3986's unreserved characters encoded. */
void url_escape(struct buf *out, const char *text);

#endif
