/* The splitter against jansson: what comes out of a stream, cut wherever the input says, is what the whole document has once
 * the members that nobody reads are taken out of it.
 * Input: the mode ('L' a list, 'F' frames, of which paths are left out; 'l' and 'f': of which nothing else comes out), a byte
 * that the cuts follow from, then the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const left_out[] = { "metadata.managedFields", "status.images", "spec.containers.env", "spec.volumes", NULL };
static const char *const kept[] = { "metadata.name", "metadata.labels", "spec.containers.image", "spec.containers.env",
                                    "spec.volumes", "status.images.a.b", NULL };
static struct split_view view;

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

/* Feeds the text in pieces of 1 to 16 bytes, or of 1 to 4096, as the seed says. Returns the envelope (new reference) or NULL. */
static json_t *split_text(enum split_mode mode, uint8_t seed, const char *text, size_t len, json_t *items, int *ret_rc,
                          bool *ret_complete)
{
    struct split s;
    split_init(&s, mode, &view, take_item, items);
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
        *ret_rc = split_feed(&s, piece, n, &e);
        free(piece);
        i += n;
    }
    DEMAND(*ret_rc == 0 || (e.kind != ERR_NONE && *err_msg(&e)));
    *ret_complete = split_complete(&s);
    const struct buf *envelope = split_envelope(&s);
    json_t *root = json_loadb(buf_text(envelope), envelope->len, JSON_REJECT_DUPLICATES, NULL);
    split_clear(&s);
    return root;
}

/* Takes a path out of a tree. */
static void take_out(json_t *node, const char *path)
{
    size_t i, len = strcspn(path, ".");
    json_t *child;
    json_array_foreach (node, i, child)
        take_out(child, path);
    CLEANUP_FREE char *name = xstrndup(path, len);
    if (path[len])
        take_out(json_object_get(node, name), path + len + 1);
    else
        json_object_del(node, name);
}

/* Whether a path begins with these names, each of which ends with a dot; `ret_whole`: one ends with them. */
static bool leads_on(const char *names, bool *ret_whole)
{
    bool leads = false;
    *ret_whole = false;
    for (size_t i = 0; view.paths[i]; i++) {
        CLEANUP_FREE char *path = xasprintf("%s.", view.paths[i]);
        *ret_whole |= str_eq(path, names);
        leads |= str_has_prefix(path, names);
    }
    return leads;
}

static void keep(json_t *node, const char *names, bool whole);

static void shorten(json_t *array)
{
    while (json_array_size(array) > SPLIT_MEMBERS_MAX)
        json_array_remove(array, SPLIT_MEMBERS_MAX);
}

static void keep_of_array(json_t *array, const char *names, bool whole)
{
    shorten(array);
    size_t i;
    json_t *child;
    json_array_foreach (array, i, child)
        keep(child, names, whole);
}

static void keep_of_map(json_t *map)
{
    const char *key;
    json_t *child;
    void *next;
    size_t n = 0;
    json_object_foreach_safe (map, next, key, child) {
        keep(child, "", true);
        if (++n > SPLIT_MEMBERS_MAX)
            json_object_del(map, key);
    }
}

/* Takes out of a tree what no path leads to, but members of its root. */
static void keep(json_t *node, const char *names, bool whole)
{
    const char *key;
    json_t *child;
    void *next;
    if (json_is_array(node))
        keep_of_array(node, names, whole);
    else if (whole)
        keep_of_map(node);
    else
        json_object_foreach_safe (node, next, key, child) {
            CLEANUP_FREE char *below = xasprintf("%s%s.", names, key);
            bool ends, leads = leads_on(below, &ends) && !strchr(key, '.');
            if (leads || !*names)
                keep(child, below, ends || !leads);
            else
                json_object_del(node, key);
        }
}

/* Shortens arrays on the way of a path. */
static void shorten_all(json_t *node, const char *names)
{
    const char *key;
    json_t *child;
    size_t i;
    bool ends;
    if (json_is_array(node)) {
        shorten(node);
        json_array_foreach (node, i, child)
            shorten_all(child, names);
    } else if (!*names || leads_on(names, &ends)) {
        json_object_foreach (node, key, child) {
            CLEANUP_FREE char *below = xasprintf("%s%s%s", names, key, strchr(key, '.') ? ".." : ".");
            shorten_all(child, below);
        }
    }
}

/* Takes out of an object what the splitter leaves out. */
static void prune(json_t *object)
{
    if (view.only) {
        keep(object, "", false);
        return;
    }
    for (size_t i = 0; left_out[i]; i++)
        take_out(object, left_out[i]);
    shorten_all(object, "");
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

static void check_list(uint8_t seed, const char *text, size_t len)
{
    CLEANUP_JSON json_t *want = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    CLEANUP_JSON json_t *got = json_array();
    int rc;
    bool complete;
    CLEANUP_JSON json_t *envelope = split_text(SPLIT_LIST, seed, text, len, got, &rc, &complete);
    if (!want || depth_of(want) > SPLIT_DEPTH_MAX)
        return;
    json_t *items = json_object_get(want, "items");
    if (!json_is_object(want) || !all_objects(items)) {
        DEMAND(rc < 0);
        return;
    }
    DEMAND(rc == 0 && complete);
    size_t i;
    json_t *item;
    json_array_foreach (items, i, item)
        prune(item);
    if (json_is_array(items)) {
        DEMAND(json_equal(got, items));
        json_array_clear(items);
    } else {
        DEMAND(json_array_size(got) == 0);
    }
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
        CLEANUP_JSON json_t *want =
            json_loadb(text + at, len - at, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
        if (!want)
            break; /* from here on jansson can say nothing */
        if (json_is_object(want)) {
            prune(want);
            prune(json_object_get(want, "object"));
        }
        if (!json_is_object(want) || depth_of(want) > SPLIT_DEPTH_MAX) {
            DEMAND(rc < 0 && json_array_size(got) == i);
            return;
        }
        DEMAND(json_equal(json_array_get(got, i), want));
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
    view = data[0] >= 'a' ? (struct split_view){ kept, true } : (struct split_view){ left_out, false };
    if (!strstr(text, "\\u")) {
        check(data[0], data[1], text, len);
        return 0;
    }
    /* A known key may be written with escapes; the splitter does not read those, since no API server writes them. Then the same
     * document counts as jansson writes it. */
    CLEANUP_JSON json_t *got = json_array();
    int rc;
    bool complete;
    enum split_mode mode = data[0] == 'L' || data[0] == 'l' ? SPLIT_LIST : SPLIT_FRAMES;
    json_decref(split_text(mode, data[1], text, len, got, &rc, &complete));
    CLEANUP_JSON json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    CLEANUP_FREE char *plain = root ? json_dumps(root, data[1] & 2 ? JSON_COMPACT : JSON_INDENT(2)) : NULL;
    if (plain)
        check(data[0], data[1], plain, strlen(plain));
    return 0;
}
