/* The context of a scan: the host's root, the memory for results, and the places that could not be
 * read. Absent and unreadable are different: an inventory reports an absence, but leaves out an
 * unreadable fact and lists its place. */
#ifndef OSTLER_NODE_INVENTORY_VIEW_H
#define OSTLER_NODE_INVENTORY_VIEW_H

#include "base/arena.h"
#include "node/inventory/root.h"

/* Limits: listed places, and length of a path. */
enum { TROUBLES_MAX = 16, SHOWN_PATH_MAX = 253 };

/* A place that could not be read. Strings are from the arena or static. */
struct trouble {
    const char *path;
    const char *reason;
};

struct troubles {
    struct trouble items[TROUBLES_MAX];
    size_t len;
};

/* Initialize with the root. */
struct view {
    const struct root *root;
    struct arena arena; /* owns the results */
    struct troubles troubles;
};

#define CLEANUP_VIEW CLEANUP(view_clear)

void view_clear(struct view *v);

enum sight { SEEN, ABSENT, UNREADABLE };

/* Reads a file up to the buffer's limit. Records a place that cannot be read. */
enum sight view_read(struct view *v, const char *path, struct buf *ret);
/* The first `max` bytes of a small text, as from part_shown(); NULL if it is empty or was not
 * seen. */
enum sight view_text(struct view *v, const char *path, size_t max, const char **ret);
/* Whether a path leads to a file of this type (S_IFSOCK, …). Another type counts as absent. */
enum sight view_is(struct view *v, const char *path, mode_t type);
enum sight view_folder(struct view *v, const char *path, size_t max, struct folder *ret);
/* The next name, like folder_next(). Records the place if it ends early. */
const char *view_next(struct view *v, struct folder *f);
/* Records a place once; `reason` must live as long as the arena. */
void view_report(struct view *v, const char *path, const char *reason);
/* The same from an errno. ENOENT is not recorded. */
enum sight view_note(struct view *v, const char *path, int why);

#endif
