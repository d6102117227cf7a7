/* Shows the items of a list as whole texts before the splitter gets them, so that one of which
 * little is read need not be split. */
#ifndef OSTLER_KUBE_WHOLE_H
#define OSTLER_KUBE_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "kube/skip.h"
#include "kube/split.h"

/* A longer item goes to the splitter at once. */
enum { WHOLE_MAX = 64 << 10 };

/* Takes the text of an item; false: the splitter gets it. */
typedef bool whole_item_fn(void *arg, const char *text, size_t len);

/* Initialise with whole_init(). */
struct whole {
    struct split *split; /* of mode SPLIT_LIST. Borrowed */
    whole_item_fn *on_item;
    void *arg;
    struct skip at;  /* in the current item; nothing is open between items */
    bool too_long;   /* the splitter gets the rest of the current item */
    struct buf text; /* of the current item, if it came in parts */
};

/* Stands before a splitter at the start of its stream; call whole_clear() when done. */
void whole_init(struct whole *w, struct split *split, whole_item_fn *on_item, void *arg);
/* Takes the next bytes, cut anywhere. -1: an error of the splitter. */
int whole_feed(struct whole *w, const char *bytes, size_t n, struct err *e);
/* Frees its memory. */
void whole_clear(struct whole *w);

#endif
