#include "controller/fleet_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/terminal.h"

enum { REMOVED_MAX = 4 << 20 };

static void frame_end(const char *id, struct buf *out)
{
    if (id)
        buf_printf(out, "\nid: %s", id);
    buf_str(out, "\n\n");
}

static void add_name(struct buf *out, const char *name)
{
    if (out->len)
        buf_str(out, ",");
    if (!terminal_add_json(out, name))
        abort();
}

void fleet_frame_nodes(const struct fleet_texts *texts, const struct map *names, const char *as_of,
                       const char *id, struct buf *out)
{
    CLEANUP_BUF struct buf removed = BUF_INIT(REMOVED_MAX);
    buf_printf(out, "event: nodes\ndata: {\"asOf\":\"%s\",\"set\":[", as_of);
    size_t begin = out->len;
    MAP_EACH (e, names) {
        size_t before = out->len;
        if (before > begin)
            buf_str(out, ",");
        if (texts->row(texts->arg, e->key, out))
            continue;
        out->len = before;
        add_name(&removed, e->key);
    }
    buf_printf(out, "],\"removed\":[%s]}", buf_text(&removed));
    frame_end(id, out);
}

void fleet_frame_policy(const struct fleet_texts *texts, const char *as_of, const char *id,
                        struct buf *out)
{
    buf_printf(out, "event: policy\ndata: {\"asOf\":\"%s\",\"policy\":", as_of);
    texts->policy(texts->arg, out);
    buf_str(out, "}");
    frame_end(id, out);
}

void fleet_frame_reset(const char *id, struct buf *out)
{
    buf_str(out, "event: reset\ndata: {}");
    frame_end(id, out);
}

void fleet_frame_beat(const char *as_of, struct buf *out)
{
    if (as_of)
        buf_printf(out, "event: beat\ndata: {\"asOf\":\"%s\"}", as_of);
    else
        buf_str(out, ":");
    frame_end(NULL, out);
}

void fleet_id(const char *holder, uint64_t sequence, char ret[static PAGE_TAG_MAX])
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    snprintf(ret, PAGE_TAG_MAX, "%.280s-%" PRIu64, holder, sequence);
    for (char *at = ret; *at; at++)
        if (!strchr(plain, *at))
            *at = '_';
}

bool fleet_id_parse(const char *id, const char *holder, uint64_t *ret_sequence)
{
    char same[PAGE_TAG_MAX];
    const char *dash = strrchr(id, '-');
    int64_t n;
    if (!dash || !str_parse_int(dash + 1, 0, INT64_MAX, &n))
        return false;
    *ret_sequence = (uint64_t) n;
    fleet_id(holder, *ret_sequence, same);
    return str_eq(id, same);
}
