/* The splitter against jansson: what comes out of a stream, cut wherever the input says, is what
 * the whole document has once the members that Ostler does not read are removed. Input: the mode
 * ('L' a list, 'F' frames, of which paths are left out; 'l' and 'f': of which nothing else comes
 * out), a byte that the cuts follow from, then the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/split.h"
#include "kube/whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const left_out[] = { "metadata.managedFields",
                                        "status.images",
                                        "spec.containers.env",
                                        "spec.volumes",
                                        "metadata.annotations.=a.io/b",
                                        "status.capacity.!a.io/",
                                        NULL };
static const char *const kept[] = { "metadata.name",
                                    "metadata.labels",
                                    "spec.containers.image",
                                    "spec.containers.env",
                                    "spec.volumes",
                                    "status.images.a.b",
                                    "metadata.annotations.=a.io/b",
                                    "status.capacity.!a.io/",
                                    NULL };
static struct split_view view;

/* What follows in the paths that lead to a place. */
struct rests {
    const char *of[ARRAY_LEN(kept)];
    size_t count;
};

/* Fails the run. */
#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static int take_item(void *arg, const char *text, size_t len, struct err *e)
{
    (void) e;
    /* An item that is no JSON stands as null, which no item is. */
    json_t *item = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    json_array_append_new(arg, item ? item : json_null());
    return 0;
}

/* An item that is nested too deep stands as false. */
static int take_bad(void *arg, const char *text, size_t len, const struct err *why, struct err *e)
{
    (void) e;
    DEMAND(len > 0 && text[0] == '{' && why->kind == ERR_TOO_LARGE);
    json_decref(split_object_begun(text, len, &view));
    json_array_append_new(arg, json_false());
    return 0;
}

static bool take_none(void *arg, const char *text, size_t len)
{
    (void) arg;
    DEMAND(len > 1 && text[0] == '{');
    return false;
}

/* Feeds the text in pieces of 1 to 16 bytes, or of 1 to 4096, as the seed says. Returns the
 * envelope (new reference) or NULL. */
static json_t *split_text(enum split_mode mode, uint8_t seed, const char *text, size_t len,
                          json_t *items, int *ret_rc, bool *ret_complete)
{
    struct split s;
    split_init(&s, mode, &view, take_item, items);
    s.on_bad = take_bad;
    struct whole w; /* with some seeds: what is not taken whole comes out as ever */
    whole_init(&w, &s, take_none, NULL);
    CLEANUP_ERR struct err e = { 0 };
    uint32_t random = seed * 2654435761u + 1;
    *ret_rc = 0;
    for (size_t i = 0; i < len && *ret_rc == 0;) {
        random = random * 1664525 + 1013904223;
        size_t n = 1 + (random >> 16) % (seed & 1 ? 16 : 4096);
        if (n > len - i)
            n = len - i;
        char *piece = malloc(n); /* of its own, so that a byte too far is seen */
        memcpy(piece, text + i, n);
        *ret_rc = seed & 2 ? whole_feed(&w, piece, n, &e) : split_feed(&s, piece, n, &e);
        free(piece);
        i += n;
    }
    DEMAND(*ret_rc == 0 || (e.kind != ERR_NONE && *err_msg(&e)));
    *ret_complete = split_complete(&s);
    const struct buf *envelope = split_envelope(&s);
    json_t *root = json_loadb(buf_text(envelope), envelope->len, JSON_REJECT_DUPLICATES, NULL);
    whole_clear(&w);
    split_clear(&s);
    return root;
}

/* Whether the rest of a path goes on with a key; `ret_rest`: with what then, NULL: it ends there.
 */
static bool goes_on(const char *rest, const char *key, const char **ret_rest)
{
    *ret_rest = NULL;
    if (*rest == '!')
        return !str_has_prefix(key, rest + 1);
    if (*rest == '=')
        return str_eq(key, rest + 1);
    size_t len = strcspn(rest, ".");
    *ret_rest = rest[len] ? rest + len + 1 : NULL;
    return strlen(key) == len && memcmp(rest, key, len) == 0;
}

static struct rests follow(const struct rests *from, const char *key, bool *ret_ends)
{
    struct rests to = { 0 };
    *ret_ends = false;
    for (size_t i = 0; i < from->count; i++) {
        const char *rest;
        if (!goes_on(from->of[i], key, &rest))
            continue;
        if (rest)
            to.of[to.count++] = rest;
        else
            *ret_ends = true;
    }
    return to;
}

static struct rests all_paths(void)
{
    struct rests r = { 0 };
    while (view.paths[r.count]) {
        r.of[r.count] = view.paths[r.count];
        r.count++;
    }
    return r;
}

static void shorten(json_t *array)
{
    while (json_array_size(array) > SPLIT_MEMBERS_MAX)
        json_array_remove(array, SPLIT_MEMBERS_MAX);
}

static void keep(json_t *node, const struct rests *rests, bool root, bool whole);

static void keep_of_array(json_t *array, const struct rests *rests, bool root, bool whole)
{
    shorten(array);
    size_t i;
    json_t *child;
    json_array_foreach (array, i, child)
        keep(child, rests, root, whole);
}

static void keep_of_map(json_t *map)
{
    const char *key;
    json_t *child;
    void *next;
    size_t n = 0;
    json_object_foreach_safe (map, next, key, child) {
        keep(child, NULL, false, true);
        if (++n > SPLIT_MEMBERS_MAX)
            json_object_del(map, key);
    }
}

/* Takes out of a tree what no path leads to, but members of its root. */
static void keep(json_t *node, const struct rests *rests, bool root, bool whole)
{
    const char *key;
    json_t *child;
    void *next;
    if (json_is_array(node))
        keep_of_array(node, rests, root, whole);
    else if (whole)
        keep_of_map(node);
    else
        json_object_foreach_safe (node, next, key, child) {
            bool ends;
            const struct rests below = follow(rests, key, &ends);
            if (ends || below.count > 0 || root)
                keep(child, &below, false, ends || below.count == 0);
            else
                json_object_del(node, key);
        }
}

/* Takes what paths end at out of a tree, and shortens arrays on their way. */
static void take_out(json_t *node, const struct rests *rests, bool root)
{
    const char *key;
    json_t *child;
    void *next;
    size_t i;
    if (json_is_array(node)) {
        shorten(node);
        json_array_foreach (node, i, child)
            take_out(child, rests, root);
    } else if (root || rests->count > 0) {
        json_object_foreach_safe (node, next, key, child) {
            bool ends;
            const struct rests below = follow(rests, key, &ends);
            if (ends)
                json_object_del(node, key);
            else
                take_out(child, &below, false);
        }
    }
}

/* Takes out of an object what the splitter leaves out. */
static void prune(json_t *object)
{
    const struct rests paths = all_paths();
    if (view.only)
        keep(object, &paths, true, false);
    else
        take_out(object, &paths, true);
}

/* The same of a frame: in the object that it brings, paths begin anew. */
static void prune_frame(json_t *frame)
{
    json_t *object = json_incref(json_object_get(frame, "object"));
    if (object)
        json_object_set_new(frame, "object", json_null());
    prune(frame);
    if (object)
        prune(object);
    if (json_object_get(frame, "object"))
        json_object_set_new(frame, "object", object);
    else
        json_decref(object);
}

static int depth_of(const json_t *node)
{
    int deepest = 0;
    const char *name;
    json_t *child;
    size_t i;
    json_object_foreach ((json_t *) node, name, child) {
        int depth = depth_of(child);
        deepest = depth > deepest ? depth : deepest;
    }
    json_array_foreach (node, i, child) {
        int depth = depth_of(child);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + (json_is_object(node) || json_is_array(node));
}

static bool all_objects(const json_t *items)
{
    size_t i;
    json_t *item;
    json_array_foreach (items, i, item)
        if (!json_is_object(item))
            return false;
    return true;
}

/* Whether an item came out as it should, which stands `below` levels deep. What is left out of it
 * may be nested as it likes, but where that begins at the limit. */
static bool came_out(const json_t *got, json_t *item, int below, void (*prune_item)(json_t *))
{
    bool may_be_bad = below + depth_of(item) > SPLIT_DEPTH_MAX;
    prune_item(item);
    bool is_bad = below + depth_of(item) > SPLIT_DEPTH_MAX;
    return json_is_false(got) ? may_be_bad : !is_bad && json_equal(got, item);
}

static void check_list(uint8_t seed, const char *text, size_t len)
{
    CLEANUP_JSON json_t *want = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    CLEANUP_JSON json_t *got = json_array();
    int rc;
    bool complete;
    CLEANUP_JSON json_t *envelope = split_text(SPLIT_LIST, seed, text, len, got, &rc, &complete);
    if (!want)
        return;
    CLEANUP_JSON json_t *items = json_incref(json_object_get(want, "items"));
    if (json_is_array(items))
        json_object_set_new(want, "items", json_array());
    if (depth_of(want) > SPLIT_DEPTH_MAX)
        return;
    if (!json_is_object(want) || !all_objects(items)) {
        DEMAND(rc < 0);
        return;
    }
    DEMAND(rc == 0 && complete);
    DEMAND(json_array_size(got) == (json_is_array(items) ? json_array_size(items) : 0));
    size_t i;
    json_t *item;
    json_array_foreach (got, i, item)
        DEMAND(came_out(item, json_array_get(items, i), 2, prune));
    DEMAND(json_equal(envelope, want));
}

static void check_frames(uint8_t seed, const char *text, size_t len)
{
    CLEANUP_JSON json_t *got = json_array();
    int rc;
    bool complete;
    json_decref(split_text(SPLIT_FRAMES, seed, text, len, got, &rc, &complete));
    size_t at = 0;
    for (size_t i = 0; at < len; i++) {
        json_error_t error;
        CLEANUP_JSON json_t *want = json_loadb(
            text + at, len - at, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
        if (!want)
            break; /* from here on jansson can say nothing */
        if (!json_is_object(want)) {
            DEMAND(rc < 0 && json_array_size(got) == i);
            return;
        }
        DEMAND(came_out(json_array_get(got, i), want, 0, prune_frame));
        at += (size_t) error.position;
    }
    if (strspn(text + at, " \t\r\n") == len - at)
        DEMAND(rc == 0 && complete);
}

static void check(uint8_t mode, uint8_t seed, const char *text, size_t len)
{
    if (mode == 'L' || mode == 'l')
        check_list(seed, text, len);
    else
        check_frames(seed, text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    CLEANUP_FREE char *text = xstrndup((const char *) data + 2, size - 2);
    size_t len = strlen(text);
    view = data[0] >= 'a' ? (struct split_view){ kept, true }
                          : (struct split_view){ left_out, false };
    if (!strchr(text, '\\')) {
        check(data[0], data[1], text, len);
        return 0;
    }
    /* A known key may be written with escapes; the splitter does not read those, since no API
     * server writes them. Then the same document counts as jansson writes it. */
    CLEANUP_JSON json_t *got = json_array();
    int rc;
    bool complete;
    enum split_mode mode = data[0] == 'L' || data[0] == 'l' ? SPLIT_LIST : SPLIT_FRAMES;
    json_decref(split_text(mode, data[1], text, len, got, &rc, &complete));
    CLEANUP_JSON json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    CLEANUP_FREE char *plain = root ? json_dumps(root, data[1] & 2 ? JSON_COMPACT : JSON_INDENT(2))
                                    : NULL;
    if (plain)
        check(data[0], data[1], plain, strlen(plain));
    return 0;
}
