#include "kube/url.h"

#include <string.h>

#include "base/buf.h"

void url_escape(struct buf *out, const char *text)
{
    for (const char *rest = text; *rest;) {
        size_t plain = strspn(rest,
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");
        buf_printf(out, "%.*s", (int) plain, rest);
        rest += plain;
        if (*rest)
            buf_printf(out, "%%%02X", (unsigned char) *rest++);
    }
}
