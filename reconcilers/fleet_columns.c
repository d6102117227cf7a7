#include "reconcilers/fleet_columns.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/terminal.h"
#include "reconcilers/fleet_row.h"

/* A power of two. */
enum { TEXTS_KEPT = 256 };
/* Numbers that are appended at a time. */
enum { PIECE = 64 };

/* Texts of one kind in the order in which they came. */
struct dictionary {
    const char **texts; /* owned; the texts are borrowed */
    size_t len;
    struct map places; /* the index of each text, plus 1, as a pointer */
    struct {
        const char *text;
        int32_t index;
    } kept[TEXTS_KEPT]; /* the same for pointers that came last */
};

enum { COLUMNS = FLEET_TEXTS_LEN + FLEET_NUMBERS_LEN };

#define X(id, name) name,
static const char *const column_names[COLUMNS] = { FLEET_TEXTS(X) FLEET_NUMBERS(X) };
#undef X

/* A target is a version of the driver, too. */
static const enum fleet_text dictionary_of[FLEET_TEXTS_LEN] = {
    FLEET_POOL,   FLEET_ZONE,    FLEET_RACK,   FLEET_STATE,
    FLEET_REASON, FLEET_PRODUCT, FLEET_DRIVER, FLEET_DRIVER,
};

/* Of the nodes in order; a text is its index in the dictionary, -1: none. Owned. */
struct columns {
    size_t len;
    const char **names; /* the names are borrowed */
    int64_t *numbers[COLUMNS];
};

static int32_t enter(struct dictionary *d, const char *text)
{
    size_t known = (size_t) map_get(&d->places, text);
    if (known)
        return (int32_t) known - 1;
    if ((d->len & (d->len - 1)) == 0) /* full, at 0, 1, 2, 4, … */
        d->texts = xreallocarray(d->texts, d->len ? 2 * d->len : 1, sizeof *d->texts);
    d->texts[d->len++] = text;
    map_put(&d->places, text, (void *) d->len);
    return (int32_t) d->len - 1;
}

static int32_t index_of(struct dictionary *d, const char *text)
{
    if (!text)
        return -1;
    __auto_type kept = &d->kept[(uintptr_t) text / 8 % TEXTS_KEPT];
    if (kept->text != text) {
        kept->index = enter(d, text);
        kept->text = text;
    }
    return kept->index;
}

static void gather(const struct cluster *c, struct fleet_reader *r, struct dictionary *all,
                   struct columns *ret)
{
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *slot = c->by_name[i];
        if (!fleet_shows(slot))
            continue;
        struct fleet_cells cells = fleet_cells_of(r, slot);
        size_t at = ret->len++;
        ret->names[at] = slot->name;
        for (size_t k = 0; k < FLEET_TEXTS_LEN; k++)
            ret->numbers[k][at] = index_of(&all[dictionary_of[k]], cells.text[k]);
        for (size_t k = 0; k < FLEET_NUMBERS_LEN; k++)
            ret->numbers[FLEET_TEXTS_LEN + k][at] = cells.number[k];
    }
}

static void add_text(struct buf *out, const char *text)
{
    if (!terminal_add_json(out, text))
        abort();
}

/* `"name":[`, with a comma before it unless it comes first. */
static void begin_list(struct buf *out, const char *name, bool first)
{
    buf_str(out, first ? "\"" : ",\"");
    buf_str(out, name);
    buf_str(out, "\":[");
}

static void add_dictionaries(const struct dictionary *all, struct buf *out)
{
    buf_str(out, "\"dictionary\":{");
    for (size_t k = 0; k < FLEET_TEXTS_LEN; k++) {
        if (dictionary_of[k] != k)
            continue;
        begin_list(out, column_names[k], k == 0);
        for (size_t i = 0; i < all[k].len; i++) {
            buf_str(out, i ? "," : "");
            add_text(out, all[k].texts[i]);
        }
        buf_str(out, "]");
    }
    buf_str(out, "}");
}

/* Numbers with a comma between them, in pieces: calls for each would cost more than the digits. */
static void add_numbers(const int64_t *numbers, size_t n, struct buf *out)
{
    char piece[PIECE * (BUF_NUMBER_MAX + 1)], *at = piece;
    for (size_t i = 0; i < n; i++) {
        if (i)
            *at++ = ',';
        at = buf_digits(at, numbers[i]);
        if (i % PIECE == PIECE - 1 || i + 1 == n) {
            if (!buf_add(out, piece, (size_t) (at - piece)))
                abort();
            at = piece;
        }
    }
}

static void add_columns(const struct columns *c, struct buf *out)
{
    buf_str(out, "\"columns\":{");
    begin_list(out, "name", true);
    for (size_t i = 0; i < c->len; i++) {
        buf_str(out, i ? "," : "");
        add_text(out, c->names[i]);
    }
    for (size_t k = 0; k < COLUMNS; k++) {
        buf_str(out, "]");
        begin_list(out, column_names[k], false);
        add_numbers(c->numbers[k], c->len, out);
    }
    buf_str(out, "]}");
}

void fleet_columns(const struct cluster *c, struct buf *out)
{
    size_t max = c->slots.len;
    CLEANUP_FREE struct dictionary *all = xcalloc(FLEET_TEXTS_LEN, sizeof *all);
    CLEANUP_FREE int64_t *numbers = xcalloc(COLUMNS * max, sizeof *numbers);
    CLEANUP_FREE const char **names = xcalloc(max, sizeof *names);
    CLEANUP_FLEET_READER struct fleet_reader *r = fleet_reader_new(c, true);
    struct columns columns = { .names = names };
    for (size_t k = 0; k < COLUMNS; k++)
        columns.numbers[k] = numbers + k * max;
    gather(c, r, all, &columns);
    add_dictionaries(all, out);
    buf_str(out, ",");
    add_columns(&columns, out);
    for (size_t k = 0; k < FLEET_TEXTS_LEN; k++) {
        free(all[k].texts);
        map_clear(&all[k].places);
    }
}
