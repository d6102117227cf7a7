/* One look at a host: its root, the memory of what is found, and what could not be read. What is not there and what cannot be
 * read are never the same: of the first an inventory says so, of the second it says nothing, and lists the place. */
#ifndef OSTLER_NODE_INVENTORY_VIEW_H
#define OSTLER_NODE_INVENTORY_VIEW_H

#include "base/arena.h"
#include "node/inventory/root.h"

/* How many places are listed, and the longest that one may be. */
enum { TROUBLES_MAX = 16, SHOWN_PATH_MAX = 253 };

/* A place that could not be read. Strings from the arena, or static. */
struct trouble {
    const char *path;
    const char *reason;
};

struct troubles {
    struct trouble items[TROUBLES_MAX];
    size_t len;
};

struct view {
    const struct root *root;
    struct arena *arena;        /* what is found lives here */
    struct troubles *troubles;
};

enum sight { SEEN, ABSENT, UNREADABLE };

/* Reads a file into the buffer, whose limit counts. What cannot be read is noted. */
enum sight view_read(const struct view *v, const char *path, struct buf *ret);
/* The first `max` bytes of a small text, trimmed, as part_shown(); NULL when it is empty or was not seen. */
enum sight view_text(const struct view *v, const char *path, size_t max, const char **ret);
/* Whether a path leads to something of this type (S_IFSOCK, …). Of another type counts as absent. */
enum sight view_is(const struct view *v, const char *path, mode_t type);
/* Opens a folder. */
enum sight view_folder(const struct view *v, const char *path, size_t max, struct folder *ret);
/* Notes a place, once, with a reason that lives as long as the arena. */
void view_say(const struct view *v, const char *path, const char *reason);
/* The same from an errno. ENOENT is no trouble. */
enum sight view_note(const struct view *v, const char *path, int why);

#endif
