#include "reconcilers/fleet_view.h"

#include <stdlib.h>

#include "base/terminal.h"
#include "reconcilers/fleet_columns.h"
#include "reconcilers/fleet_row.h"

static void add_text(struct buf *out, const char *text)
{
    if (!text)
        buf_str(out, "null");
    else if (!terminal_add_json(out, text))
        abort();
}

void fleet_snapshot(const struct fleet_source *s, const char *id, struct buf *out)
{
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_heard_us(s->cluster), now);
    buf_str(out, "{\"format\":1,\"id\":");
    add_text(out, id);
    buf_str(out, ",\"asOf\":");
    add_text(out, now);
    buf_str(out, ",\"ostler\":{\"version\":");
    add_text(out, s->version);
    buf_str(out, ",\"holder\":");
    add_text(out, s->holder);
    buf_str(out, "},\"policy\":");
    fleet_policy(s, out);
    buf_str(out, ",");
    fleet_columns(s->cluster, out);
    buf_str(out, "}");
}

bool fleet_row(const struct fleet_source *s, const char *name, struct buf *out)
{
    const struct node_slot *slot = map_get(&s->cluster->slots, name);
    if (!slot || !fleet_shows(slot))
        return false;
    CLEANUP_FLEET_READER struct fleet_reader *r = fleet_reader_new(s->cluster, false);
    struct fleet_cells cells = fleet_cells_of(r, slot);
    buf_str(out, "[");
    add_text(out, slot->name);
    for (size_t k = 0; k < FLEET_TEXTS_LEN; k++) {
        buf_str(out, ",");
        add_text(out, cells.text[k]);
    }
    for (size_t k = 0; k < FLEET_NUMBERS_LEN; k++) {
        buf_str(out, ",");
        buf_number(out, cells.number[k]);
    }
    buf_str(out, "]");
    return true;
}
