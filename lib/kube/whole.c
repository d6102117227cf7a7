#include "kube/whole.h"

void whole_init(struct whole *w, struct split *split, whole_item_fn *on_item, void *arg)
{
    *w = (struct whole){
        .split = split, .on_item = on_item, .arg = arg, .text = BUF_INIT(WHOLE_MAX)
    };
}

void whole_clear(struct whole *w)
{
    buf_clear(&w->text);
}

/* Passes a part of an item that is too long on, and the parts before it. */
static int pass_on(struct whole *w, const char *part, size_t n, struct err *e)
{
    int rc = split_feed(w->split, w->text.data, w->text.len, e);
    buf_reset(&w->text);
    return rc < 0 ? -1 : split_feed(w->split, part, n, e);
}

/* The whole text of an item. */
static int whole_end(struct whole *w, const char *text, size_t len, struct err *e)
{
    int rc = w->on_item(w->arg, text, len) ? 0 : split_feed(w->split, text, len, e);
    buf_reset(&w->text);
    return rc;
}

/* Takes bytes of an item, from its bracket on; returns how many in `ret_taken`. */
static int take_item(struct whole *w, const char *bytes, size_t n, size_t *ret_taken, struct err *e)
{
    size_t bracket = !w->at.open;
    if (bracket)
        w->at = (struct skip){ .open = 1 };
    *ret_taken = bracket + skip_json(&w->at, bytes + bracket, n - bracket);
    bool ends = !w->at.open, part = w->text.len || !ends, late = w->too_long;
    w->too_long = !late && part && !buf_add(&w->text, bytes, *ret_taken);
    if (late || w->too_long) {
        w->too_long = !ends;
        return pass_on(w, bytes, *ret_taken, e);
    }
    if (!ends)
        return 0;
    return part ? whole_end(w, w->text.data, w->text.len, e) : whole_end(w, bytes, *ret_taken, e);
}

int whole_feed(struct whole *w, const char *bytes, size_t n, struct err *e)
{
    for (size_t i = 0, taken; i < n; i += taken) {
        bool item = w->at.open || (bytes[i] == '{' && split_before_item(w->split));
        taken = 1; /* around the items there are few bytes */
        int rc = item ? take_item(w, bytes + i, n - i, &taken, e)
                      : split_feed(w->split, bytes + i, 1, e);
        if (rc < 0)
            return -1;
    }
    return 0;
}
