/* Splits a stream of JSON into the objects in it, as the bytes come, and leaves out members that nobody here reads before the
 * parser sees them: most of what a pod says. Of what anybody may write it takes so much and no more. It checks nesting, limits
 * and the commas that it moves; everything else of an object comes out byte for byte and is judged by jansson, one object at a
 * time, so that no more than one is ever in memory as a tree. Shape of the idea and figures: a list of 5,000 nodes in 2.6 MB. */
#ifndef OSTLER_KUBE_SPLIT_H
#define OSTLER_KUBE_SPLIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum split_mode {
    SPLIT_LIST,   /* one object; the elements of its member `items` come out, the rest is the envelope */
    SPLIT_FRAMES, /* object after object (a watch); each comes out */
};

/* Nesting that is followed; what is deeper and not left out is too large. An object of the API has less than 30. */
enum { SPLIT_DEPTH_MAX = 96 };

/* Takes one object's text; -1 (with the error set) ends the stream. */
typedef int split_item_fn(void *arg, const char *text, size_t len, struct err *e);
/* Takes an object that is too large, or nested too deep, when its end has come: `text` is its beginning, which breaks off
 * anywhere. -1 (with the error set) ends the stream. */
typedef int split_bad_fn(void *arg, const char *text, size_t len, const struct err *why, struct err *e);

/* Most paths of a view. */
enum { SPLIT_PATHS_MAX = 64 };

/* What of an object comes out. */
struct split_view {
    /* From an object's root on, "spec.containers.env", ended by NULL: they are left out. A last name that has
     * dots has a = before it: "metadata.annotations.=a.example/b". A last name "!a.example/" stands for all keys that do
     * not begin with "a.example/", and "!a.example/!b.example/" for those that begin with neither. A
     * member whose key is longer than SPLIT_KEY_MAX is left out too. Of an array on the way to them
     * no more than SPLIT_MEMBERS_MAX elements come out. Borrowed. */
    const char *const *paths;
    /* They are all that comes out, beside members of the root that no path begins with. For kinds that anybody may write: who
     * has 1.5 MiB for a pod has room for 400,000 empty `imagePullSecrets`, which are 100 MiB as a tree. So of any array, or a map
     * that a path leads to, no more than SPLIT_MEMBERS_MAX come out, and of an array none but the first once the object has
     * SPLIT_ENOUGH bytes; a string of more than SPLIT_STRING_MAX is empty. Members that paths name come out in any case. Who
     * writes such a pod hides what it asks for; that it has a GPU open the node's agent says. */
    bool only;
};

enum {
    SPLIT_MEMBERS_MAX = 1000,
    SPLIT_STRING_MAX = 32 << 10, /* a container's last words are 4 KiB (kubelet), of characters that JSON writes in six bytes */
    SPLIT_ENOUGH = 1 << 20,
    SPLIT_KEY_MAX = 64 << 10, /* with its quotes; the API server takes 317 bytes, but for resources of a node any length */
};

struct split_level {
    bool object;         /* {} rather than [] */
    bool has_key;        /* this object had a member, copied or left out */
    bool has_member;     /* something was copied from this object already: the next member needs a comma */
    bool items;          /* it stands under the key `items` */
    bool whole;          /* a path of a view with `only` ended here or before */
    unsigned char names; /* how many names of a path lead here; an array's elements are where the array is */
    unsigned members;    /* commas so far, where they count */
    uint64_t paths;      /* bit i: the first names of view.paths[i] lead here */
};

/* Initialise with split_init(). */
struct split {
    enum split_mode mode;
    struct split_view view; /* all zero: everything comes out */
    split_item_fn *on_item;
    split_bad_fn *on_bad; /* set after split_init(); NULL: an object that is too large ends the stream */
    void *arg;
    struct err bad; /* why the current item is too large: nothing more of it comes out; owned */
    struct split_level levels[SPLIT_DEPTH_MAX];
    int depth;
    size_t beyond; /* containers that are open beyond that depth, in what is left out */
    int pruned_at; /* depth of the object whose current member is left out, or of the array that takes no more; 0: none */
    int plain_at;  /* depth in the container that is copied, or left out, in one piece; 0: none */
    bool in_string, in_escape, in_key, want_key, in_item;
    bool key_too_long; /* the key has passed SPLIT_KEY_MAX */
    struct split_level next; /* what a container that begins at the last key would be */
    struct buf key;
    size_t string_at; /* where in the item the string begins that is being copied */
    bool too_long;    /* it has passed SPLIT_STRING_MAX */
    struct buf item;
    struct buf envelope;
};

/* A splitter at the beginning of a stream; split_clear() when done. `view` NULL: everything comes out. */
void split_init(struct split *s, enum split_mode mode, const struct split_view *view, split_item_fn *on_item, void *arg);
/* Takes the next bytes, cut anywhere. -1: broken nesting, a limit, or the error of a function that takes objects. */
int split_feed(struct split *s, const char *bytes, size_t n, struct err *e);
/* Whether everything that was begun has ended. */
bool split_complete(const struct split *s);
/* SPLIT_LIST: the list object with an empty `items`. Borrowed. */
const struct buf *split_envelope(const struct split *s);
/* Frees what it owns. */
void split_clear(struct split *s);
/* One whole object, parsed as far as it is in view (NULL: all of it), as json_parse_stored(); NULL and the error set when it is
 * none. */
json_t *split_object(const char *text, size_t len, const struct split_view *view, struct err *e);
/* The same of an object that may break off, as far as it is in view; NULL also when it breaks off in what is in view. */
json_t *split_object_begun(const char *text, size_t len, const struct split_view *view);

#endif
