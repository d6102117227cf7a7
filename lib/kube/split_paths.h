/* The paths of a view as a tree of names, so that a key is compared with the names that may follow
 * here, not with each path. */
#ifndef OSTLER_KUBE_SPLIT_PATHS_H
#define OSTLER_KUBE_SPLIT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name of one or more paths that begin alike. */
struct split_name {
    const char *name; /* borrowed; of "!": the prefixes "!a.example/!b.example/" */
    uint16_t len;
    uint16_t next;  /* the next name after the same beginning; 0: none */
    uint16_t first; /* the first name that may follow; 0: none */
    bool ends;      /* a path ends here */
    bool but;       /* it is all keys but those that begin with a prefix; the path ends here */
};

/* Index 0 stands for no path, index 1 for the beginning of all; see struct split_view. */
enum { SPLIT_PATHS_BEGIN = 1 };

/* Makes the tree of a list of paths; NULL: there are none. free() it. */
struct split_name *split_paths_new(const char *const *paths);
/* Follows a key without its quotes. Returns where the paths continue that lead on (0: nowhere);
 * `ret_ends`: a path ends with the key. */
unsigned split_paths_follow(const struct split_name *names, unsigned at, const char *key,
                            size_t len, bool *ret_ends);

#endif
