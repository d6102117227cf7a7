/* Splits a JSON stream into its objects while the bytes arrive. It drops members that no code
 * reads (most of a pod) before the parser sees them. It limits what it takes of objects that
 * tenants can write. It checks nesting, limits and the commas that it moves, and of what it leaves
 * out that the brackets are as many; the parser checks the rest. The parser gets one object at a
 * time, so that memory holds only one tree. A list of 5,000 nodes takes 2.6 MB this way. */
#ifndef OSTLER_KUBE_SPLIT_H
#define OSTLER_KUBE_SPLIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/split_paths.h"

enum split_mode {
    SPLIT_LIST,   /* one list object; emits the elements of `items`, the rest is the envelope */
    SPLIT_FRAMES, /* object after object (a watch); emits each */
};

/* Nesting limit; a deeper object is too large, unless the deep part is left out. API objects
 * have fewer than 30 levels. */
enum { SPLIT_DEPTH_MAX = 96 };

/* Takes the text of one object; -1 (with the error set) ends the stream. */
typedef int split_item_fn(void *arg, const char *text, size_t len, struct err *e);
/* Takes an object that is too large or too deep, at its end: `text` is its beginning, cut
 * anywhere. -1 (with the error set) ends the stream. */
typedef int split_bad_fn(void *arg, const char *text, size_t len, const struct err *why,
                         struct err *e);

/* The part of an object that is emitted. */
struct split_view {
    /* Paths to leave out, from the object's root: "spec.containers.env", ended by NULL. A last
     * name with dots starts with =: "metadata.annotations.=a.example/b". A last name
     * "!a.example/" means all keys that do not begin with "a.example/", and
     * "!a.example/!b.example/" those that begin with neither. A member with a key longer than
     * SPLIT_KEY_MAX is left out too. An array on the way to a path keeps at most
     * SPLIT_MEMBERS_MAX elements. Borrowed. */
    const char *const *paths;
    /* If set, the view emits only these paths, and members of the root that no path begins with.
     * It is for kinds that tenants can write: a pod of 1.5 MiB can hold 400,000 empty
     * `imagePullSecrets`, 100 MiB as a tree. So any array, or map that a path leads to, keeps at
     * most SPLIT_MEMBERS_MAX members. An array keeps only its first element once the object has
     * SPLIT_ENOUGH bytes. A string longer than SPLIT_STRING_MAX becomes empty. Named members
     * always stay. Such a pod can hide its requests, but the node's agent reports its open GPU
     * devices. */
    bool only;
};

enum {
    SPLIT_MEMBERS_MAX = 1000,
    /* The kubelet's termination messages have 4 KiB, and JSON may need six bytes per character. */
    SPLIT_STRING_MAX = 32 << 10,
    SPLIT_ENOUGH = 1 << 20,
    /* With its quotes. The API server accepts 317 bytes, but any length for a node's resources. */
    SPLIT_KEY_MAX = 64 << 10,
};

struct split_level {
    bool object;      /* {}, not [] */
    bool has_key;     /* a member was seen, copied or left out */
    bool has_member;  /* a member was copied: the next one needs a comma */
    bool items;       /* it is the value of `items` */
    bool whole;       /* a path of an `only` view ended here or above */
    bool root;        /* no name of the item leads here */
    uint16_t paths;   /* where the paths go on that lead here (split_paths.h); 0: none do */
    unsigned members; /* commas so far, if they count */
};

/* Initialise with split_init(). */
struct split {
    enum split_mode mode;
    struct split_view view;   /* zeroed: emits everything */
    struct split_name *names; /* its paths; NULL: none. Owned */
    split_item_fn *on_item;
    /* set after split_init(); NULL: an object that is too large ends the stream */
    split_bad_fn *on_bad;
    void *arg;
    struct err bad; /* Why the current item is too large: the rest of it is dropped. Owned. */
    struct split_level levels[SPLIT_DEPTH_MAX];
    int depth;
    size_t beyond; /* open containers below that depth, in a part left out */
    /* Depth of the object whose current member is left out, or of the array that is full; 0:
     * none. */
    int pruned_at;
    int plain_at; /* Depth inside a container that is copied or left out in one piece; 0: none. */
    bool in_string, in_escape, in_key, want_key, in_item;
    bool key_too_long;       /* the key exceeds SPLIT_KEY_MAX */
    struct split_level next; /* level of a container that begins after the last key */
    struct buf key;
    size_t string_at; /* start of the current string in the item */
    bool too_long;    /* the string exceeds SPLIT_STRING_MAX */
    /* Bytes of the input that belong to the item, or the envelope, and are not copied yet. */
    const char *run;
    size_t run_len;
    struct buf item;
    struct buf envelope;
};

/* Makes a splitter at the start of a stream; call split_clear() when done. `view` NULL: emits
 * everything. */
void split_init(struct split *s, enum split_mode mode, const struct split_view *view,
                split_item_fn *on_item, void *arg);
/* Takes the next bytes, cut anywhere. -1: broken nesting, a limit, or an error of a callback. */
int split_feed(struct split *s, const char *bytes, size_t n, struct err *e);
/* SPLIT_LIST: whether a bracket would begin an item here. */
bool split_before_item(const struct split *s);
/* Whether every object has ended. */
bool split_complete(const struct split *s);
/* SPLIT_LIST: the list object with an empty `items`. Borrowed. */
const struct buf *split_envelope(const struct split *s);
/* Frees its memory. */
void split_clear(struct split *s);
/* Parses one whole object as far as it is in view (NULL: all of it), as json_parse_stored();
 * NULL with the error set on failure. */
json_t *split_object(const char *text, size_t len, const struct split_view *view, struct err *e);
/* The same for an object that may be cut, as far as it is in view; NULL also if the cut is in
 * view. */
json_t *split_object_begun(const char *text, size_t len, const struct split_view *view);

#endif
