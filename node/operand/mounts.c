#include "node/operand/mounts.h"

#include <string.h>

bool mounts_has(struct part text, const char *place)
{
    struct part line, device, at;
    while (part_next(&text, '\n', &line))
        if (part_word(&line, &device) && part_word(&line, &at) && part_is(at, place))
            return true;
    return false;
}

bool mounts_add_folders(struct part text, const char *begins, struct buf *ret)
{
    struct part line, device, at;
    bool found = false;
    while (part_next(&text, '\n', &line)) {
        if (!part_word(&line, &device) || !part_word(&line, &at))
            continue;
        const char *slash = memrchr(at.at, '/', at.len);
        if (!slash ||
            !part_begins((struct part){ slash + 1, at.len - (size_t) (slash + 1 - at.at) }, begins))
            continue;
        buf_printf(ret, ":%.*s", (int) (slash - at.at), at.at);
        found = true;
    }
    return found;
}
