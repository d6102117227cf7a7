#include "kube/url.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

void url_escape(struct buf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *) text; *p; p++) {
        if (*p < 0x80 && (isalnum(*p) || strchr("-._~", *p)))
            buf_printf(out, "%c", *p);
        else
            buf_printf(out, "%%%02X", *p);
    }
}
