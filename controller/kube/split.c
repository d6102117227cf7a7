#include "kube/split.h"

#include <string.h>

#include "base/str.h"

/* etcd takes objects up to 1.5 MiB; JSON of one may be larger than its stored form. */
enum { ITEM_MAX = 8 << 20, ENVELOPE_MAX = 64 << 10, KEY_MAX = 64 << 10 };

enum known_key { KEY_OTHER, KEY_ITEMS, KEY_METADATA, KEY_STATUS, KEY_MANAGED_FIELDS, KEY_IMAGES };

static const struct key_row {
    const char *text; /* with its quotes, as it stands in the stream */
    enum known_key key;
} known_keys[] = {
    { "\"items\"", KEY_ITEMS },   { "\"metadata\"", KEY_METADATA },          { "\"status\"", KEY_STATUS },
    { "\"images\"", KEY_IMAGES }, { "\"managedFields\"", KEY_MANAGED_FIELDS },
};

/* Members that are left out: this key in an object under that key. */
static const struct prune_row {
    enum known_key parent, key;
} pruned[] = {
    { KEY_METADATA, KEY_MANAGED_FIELDS },
    { KEY_STATUS, KEY_IMAGES },
};

void split_init(struct split *s, enum split_mode mode, split_item_fn *on_item, void *arg)
{
    memset(s, 0, sizeof *s);
    s->mode = mode;
    s->on_item = on_item;
    s->arg = arg;
    s->key = (struct buf) BUF_INIT(KEY_MAX);
    s->item = (struct buf) BUF_INIT(ITEM_MAX);
    s->envelope = (struct buf) BUF_INIT(ENVELOPE_MAX);
}

void split_clear(struct split *s)
{
    buf_clear(&s->key);
    buf_clear(&s->item);
    buf_clear(&s->envelope);
}

bool split_complete(const struct split *s)
{
    return s->depth == 0 && !s->in_string;
}

const struct buf *split_envelope(const struct split *s)
{
    return &s->envelope;
}

static int emit(struct split *s, const char *bytes, size_t n, struct err *e)
{
    if (s->in_key) {
        if (!buf_add(&s->key, bytes, n))
            return err_set(e, ERR_TOO_LARGE, "a key of more than %d bytes", KEY_MAX);
        return 0;
    }
    if (s->pruned_at)
        return 0;
    if (!buf_add(s->in_item ? &s->item : &s->envelope, bytes, n))
        return err_set(e, ERR_TOO_LARGE, "an object of more than %d bytes", s->in_item ? ITEM_MAX : ENVELOPE_MAX);
    return 0;
}

static struct split_level *top(struct split *s)
{
    return &s->levels[s->depth - 1];
}

static bool is_pruned(const struct split *s, enum known_key parent, enum known_key key)
{
    if (key == KEY_MANAGED_FIELDS && s->keep_managed_fields)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(pruned); i++)
        if (pruned[i].parent == parent && pruned[i].key == key)
            return true;
    return false;
}

static enum known_key key_of(const struct buf *key)
{
    for (size_t i = 0; i < ARRAY_LEN(known_keys); i++)
        if (str_eq(known_keys[i].text, buf_text(key)))
            return known_keys[i].key;
    return KEY_OTHER;
}

/* A member's key is complete: the member begins here, or is left out up to its end. */
static int end_key(struct split *s, struct err *e)
{
    struct split_level *level = top(s);
    s->in_key = s->want_key = false;
    level->has_key = true;
    enum known_key key = key_of(&s->key);
    s->last_key = (unsigned char) key;
    int rc = 0;
    if (!s->pruned_at && is_pruned(s, (enum known_key) level->key, key)) {
        s->pruned_at = s->depth;
    } else if (!s->pruned_at) {
        if (level->has_member)
            rc = emit(s, ",", 1, e);
        level->has_member = true;
        if (rc == 0)
            rc = emit(s, s->key.data, s->key.len, e);
    }
    buf_reset(&s->key);
    return rc;
}

/* Copies what of a string is there; returns the number of bytes taken. */
static size_t take_string(struct split *s, const char *p, size_t n, struct err *e, int *rc)
{
    size_t i = 0;
    bool closed = false;
    while (i < n && !closed) {
        char c = p[i++];
        if (s->in_escape)
            s->in_escape = false;
        else if (c == '\\')
            s->in_escape = true;
        else if (c == '"')
            closed = true;
    }
    *rc = emit(s, p, i, e);
    if (closed) {
        s->in_string = false;
        if (s->in_key && *rc == 0)
            *rc = end_key(s, e);
    }
    return i;
}

static bool at_item(const struct split *s)
{
    if (s->mode == SPLIT_FRAMES)
        return s->depth == 0;
    return s->depth == 2 && !s->levels[1].object && s->levels[1].key == KEY_ITEMS;
}

/* Where nothing but an object (or, before a list, the list) may begin. */
static bool is_between(const struct split *s)
{
    return s->depth == 0 || (!s->in_item && at_item(s));
}

static int open_container(struct split *s, char c, struct err *e)
{
    if (s->depth == SPLIT_DEPTH_MAX)
        return err_set(e, ERR_TOO_LARGE, "JSON nested deeper than %d", SPLIT_DEPTH_MAX);
    if (s->depth > 0 && s->want_key)
        return err_set(e, ERR_INVALID, "not JSON: '%c' where a key belongs", c);
    if (!s->in_item && at_item(s)) {
        if (c != '{')
            return err_set(e, ERR_INVALID, "an item that is not an object");
        s->in_item = true;
    }
    if (s->mode == SPLIT_LIST && s->depth == 0 && (c != '{' || s->envelope.len))
        return err_set(e, ERR_INVALID, "a list that is not one object");
    if (emit(s, &c, 1, e) < 0)
        return -1;
    /* An element of an array has no key of its own. */
    bool in_object = s->depth > 0 && top(s)->object;
    s->levels[s->depth++] = (struct split_level){ .object = c == '{',
                                                  .key = in_object ? s->last_key : (unsigned char) KEY_OTHER };
    s->want_key = c == '{';
    return 0;
}

static int close_container(struct split *s, char c, struct err *e)
{
    if (s->depth == 0 || top(s)->object != (c == '}'))
        return err_set(e, ERR_INVALID, "not JSON: unexpected '%c'", c);
    if (s->want_key && top(s)->has_key)
        return err_set(e, ERR_INVALID, "not JSON: '%c' after a comma", c);
    if (s->pruned_at == s->depth)
        s->pruned_at = 0;
    s->want_key = false;
    if (emit(s, &c, 1, e) < 0)
        return -1;
    s->depth--;
    if (!s->in_item || !at_item(s))
        return 0;
    s->in_item = false;
    int rc = s->on_item(s->arg, s->item.data, s->item.len, e);
    buf_reset(&s->item);
    return rc;
}

static int take_comma(struct split *s, struct err *e)
{
    if (s->depth == 0)
        return err_set(e, ERR_INVALID, "not JSON: ',' outside of an object");
    if (top(s)->object) {
        if (s->want_key)
            return err_set(e, ERR_INVALID, "not JSON: ',' where a key belongs");
        if (s->pruned_at == s->depth)
            s->pruned_at = 0;
        s->want_key = true; /* the comma itself comes with the next member that is kept */
        return 0;
    }
    /* Between the items of a list nothing is copied. */
    return at_item(s) ? 0 : emit(s, ",", 1, e);
}

static int take_char(struct split *s, char c, struct err *e)
{
    switch (c) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        return s->in_item ? emit(s, &c, 1, e) : 0;
    case '{':
    case '[':
        return open_container(s, c, e);
    case '}':
    case ']':
        return close_container(s, c, e);
    case ',':
        return take_comma(s, e);
    default:
        break;
    }
    if (is_between(s))
        return err_set(e, ERR_INVALID, "not JSON: '%c' where an object belongs", c);
    if (c == '"') {
        s->in_string = true;
        s->in_key = s->want_key;
    }
    return emit(s, &c, 1, e);
}

int split_feed(struct split *s, const char *bytes, size_t n, struct err *e)
{
    for (size_t i = 0; i < n;) {
        int rc = 0;
        if (s->in_string)
            i += take_string(s, bytes + i, n - i, e, &rc);
        else
            rc = take_char(s, bytes[i++], e);
        if (rc < 0)
            return -1;
    }
    return 0;
}
