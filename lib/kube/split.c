#include "kube/split.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "kube/skip.h"
#include "kube/split_paths.h"

/* etcd accepts objects up to 1.5 MiB, and JSON may need six bytes per character ("\u003c"). Any
 * tenant that may create pods can create such a pod. */
enum { ITEM_MAX = 16 << 20, ENVELOPE_MAX = 64 << 10 };

void split_init(struct split *s, enum split_mode mode, const struct split_view *view,
                split_item_fn *on_item, void *arg)
{
    memset(s, 0, sizeof *s);
    s->mode = mode;
    s->view = view ? *view : (struct split_view){ 0 };
    s->names = split_paths_new(s->view.paths);
    s->on_item = on_item;
    s->arg = arg;
    s->key = (struct buf) BUF_INIT(SPLIT_KEY_MAX);
    s->item = (struct buf) BUF_INIT(ITEM_MAX);
    s->envelope = (struct buf) BUF_INIT(ENVELOPE_MAX);
}

void split_clear(struct split *s)
{
    buf_clear(&s->key);
    buf_clear(&s->item);
    buf_clear(&s->envelope);
    err_clear(&s->bad);
    free(TAKE(s->names));
}

bool split_complete(const struct split *s)
{
    return s->depth == 0 && !s->in_string;
}

const struct buf *split_envelope(const struct split *s)
{
    return &s->envelope;
}

/* Rejects the stream, or only the current item if there is a function for bad items. */
static int split_refuse(struct split *s, struct err *e, const char *what, int max)
{
    bool costs_item = s->in_item && s->on_bad;
    err_set(costs_item ? &s->bad : e, ERR_TOO_LARGE, "%s %d", what, max);
    return costs_item ? 0 : -1;
}

static bool is_bad(const struct split *s)
{
    return s->bad.kind != ERR_NONE;
}

/* Copies the run. */
static int flush(struct split *s, struct err *e)
{
    const char *bytes = s->run;
    size_t n = s->run_len;
    if (!bytes)
        return 0;
    struct buf *to = s->in_item ? &s->item : &s->envelope;
    s->run = NULL;
    s->run_len = 0;
    if (buf_add(to, bytes, n))
        return 0;
    /* this part may contain the object's identity */
    bool fills = buf_add(to, bytes, to->max - to->len);
    return fills ? split_refuse(s, e, "an object of more bytes than", (int) to->max) : -1;
}

/* Emits bytes. Those that follow each other in the input are copied together. */
static int emit(struct split *s, const char *bytes, size_t n, struct err *e)
{
    if (s->pruned_at || is_bad(s))
        return 0;
    bool follows = s->run && s->run + s->run_len == bytes;
    if (!follows && s->run && flush(s, e) < 0)
        return -1;
    if (!follows)
        s->run = bytes;
    s->run_len += n;
    const struct buf *to = s->in_item ? &s->item : &s->envelope;
    return s->run_len > to->max - to->len ? flush(s, e) : 0;
}

/* Bytes of the item so far. */
static size_t item_len(const struct split *s)
{
    return s->item.len + s->run_len;
}

/* The innermost open container. */
static struct split_level *top(struct split *s)
{
    return &s->levels[s->depth - 1];
}

/* Where the paths of the view begin. */
static unsigned all_paths(const struct split *s)
{
    return s->names ? SPLIT_PATHS_BEGIN : 0;
}

static bool is_key(const char *key, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(key, name, len) == 0;
}

/* Follows the paths along a key without its quotes; returns whether its member is left out. */
static bool follow(struct split *s, const char *key, size_t len)
{
    const struct split_level *level = top(s);
    bool ends = false, root = level->root;
    unsigned paths = 0;
    if (s->mode == SPLIT_FRAMES && s->depth == 1 && is_key(key, len, "object")) {
        s->next = (struct split_level){ .paths = (uint16_t) all_paths(s), .root = true };
        return false;
    }
    if (level->paths)
        paths = split_paths_follow(s->names, level->paths, key, len, &ends);
    s->next = (struct split_level){ .paths = (uint16_t) paths, .items = is_key(key, len, "items") };
    if (!s->view.only)
        return ends;
    s->next.whole = level->whole || ends || (root && !paths);
    return !s->next.whole && !paths;
}

/* The key is complete, with its quotes: its member begins here, or is left out. */
static int end_key(struct split *s, const char *key, size_t len, struct err *e)
{
    struct split_level *level = top(s);
    s->in_key = s->want_key = false;
    level->has_key = true;
    bool too_long = s->key_too_long;
    s->key_too_long = false;
    if (s->pruned_at || is_bad(s))
        return 0;
    if (too_long || follow(s, key + 1, len - 2)) {
        s->pruned_at = s->depth;
        return 0;
    }
    bool comma = level->has_member;
    level->has_member = true;
    /* Usually the comma before it is in the run's place. */
    if (comma && s->run && s->run + s->run_len == key - 1 && key[-1] == ',')
        return emit(s, key - 1, len + 1, e);
    int rc = comma ? emit(s, ",", 1, e) : 0;
    return rc < 0 ? -1 : emit(s, key, len, e);
}

static bool at_item(const struct split *s)
{
    if (s->mode == SPLIT_FRAMES)
        return s->depth == 0;
    return s->depth == 2 && !s->levels[1].object && s->levels[1].items;
}

/* Whether only an object (or, before a list, the list) may begin here. */
static bool is_between(const struct split *s)
{
    return s->depth == 0 || (!s->in_item && at_item(s));
}

/* The level of a container that begins here. */
static struct split_level level_of(struct split *s, bool object, bool is_item)
{
    struct split_level level = { .root = true };
    if (is_item)
        level.paths = (uint16_t) all_paths(s);
    else if (s->depth > 0 && top(s)->object)
        level = s->next;
    else if (s->depth > 0)
        level = (struct split_level){ .root = top(s)->root,
                                      .paths = top(s)->paths,
                                      .whole = top(s)->whole };
    level.object = object;
    return level;
}

bool split_before_item(const struct split *s)
{
    return s->mode == SPLIT_LIST && !s->in_item && at_item(s);
}

/* The depth of the current item. */
static int item_depth(const struct split *s)
{
    return s->mode == SPLIT_FRAMES ? 1 : 3;
}

static int push(struct split *s, struct split_level level, struct err *e)
{
    if (s->depth < SPLIT_DEPTH_MAX) {
        s->levels[s->depth++] = level;
        return 0;
    }
    if (split_refuse(s, e, "JSON nested deeper than", SPLIT_DEPTH_MAX) < 0)
        return -1;
    s->beyond++;
    s->plain_at = item_depth(s);
    return 0;
}

static int pop(struct split *s, char c, struct err *e)
{
    if (s->depth == 0 || top(s)->object != (c == '}'))
        return err_set(e, ERR_INVALID, "not JSON: unexpected '%c'", c);
    s->depth--;
    return 0;
}

/* Of an object that is too large or too deep only the end matters. */
static int push_plain(struct split *s, bool object, struct err *e)
{
    if (s->depth < SPLIT_DEPTH_MAX)
        s->levels[s->depth++].object = object; /* no more is read of it */
    else if (!is_bad(s))
        return push(s, (struct split_level){ .object = object }, e);
    else
        s->beyond++;
    return 0;
}

static int pop_plain(struct split *s, char c, struct err *e)
{
    if (s->beyond == 0)
        return pop(s, c, e);
    s->beyond--;
    return 0;
}

/* Whether the view keeps or drops a container as a whole. */
static bool split_is_plain(const struct split *s, const struct split_level *level)
{
    return s->in_item && (s->pruned_at || (level->object && !level->paths && !s->view.only));
}

/* Refuses a container where none may begin. */
static int check_container(const struct split *s, char c, bool is_item, struct err *e)
{
    if (s->depth > 0 && s->want_key)
        return err_set(e, ERR_INVALID, "not JSON: '%c' where a key belongs", c);
    if (is_item && c != '{')
        return err_set(e, ERR_INVALID, "an item that is not an object");
    if (s->mode == SPLIT_LIST && s->depth == 0 && (c != '{' || s->envelope.len || s->run))
        return err_set(e, ERR_INVALID, "a list that is not one object");
    return 0;
}

static int open_container(struct split *s, const char *p, struct err *e)
{
    char c = *p;
    bool is_item = !s->in_item && at_item(s);
    if (check_container(s, c, is_item, e) < 0 || (is_item && flush(s, e) < 0))
        return -1;
    s->in_item |= is_item;
    struct split_level level = level_of(s, c == '{', is_item);
    if (push(s, level, e) < 0 || emit(s, p, 1, e) < 0)
        return -1;
    s->want_key = c == '{';
    if (!s->plain_at && split_is_plain(s, &level))
        s->plain_at = s->depth;
    return 0;
}

static int end_bad_item(struct split *s, struct err *e)
{
    CLEANUP_ERR struct err why = err_take(&s->bad);
    s->pruned_at = 0;
    return s->on_bad(s->arg, s->item.data, s->item.len, &why, e);
}

/* Ends a container, and the item if it was the item's. */
static int end_container(struct split *s, struct err *e)
{
    if (!s->in_item || !at_item(s))
        return 0;
    if (flush(s, e) < 0)
        return -1;
    s->in_item = false;
    int rc = is_bad(s) ? end_bad_item(s, e) : s->on_item(s->arg, s->item.data, s->item.len, e);
    buf_reset(&s->item);
    return rc;
}

static int close_container(struct split *s, const char *p, struct err *e)
{
    char c = *p;
    bool dangling = s->depth > 0 && s->want_key && top(s)->has_key;
    if (s->pruned_at == s->depth)
        s->pruned_at = 0;
    if (pop(s, c, e) < 0)
        return -1;
    if (dangling)
        return err_set(e, ERR_INVALID, "not JSON: '%c' after a comma", c);
    s->want_key = false;
    return emit(s, p, 1, e) < 0 ? -1 : end_container(s, e);
}

/* Whether the innermost container must not emit more members. */
static bool is_full(struct split *s)
{
    struct split_level *level = top(s);
    if (!s->in_item || s->pruned_at || (level->object && !level->whole))
        return false;
    level->members++;
    bool enough = s->view.only && !level->object && item_len(s) >= SPLIT_ENOUGH;
    return enough || level->members >= SPLIT_MEMBERS_MAX;
}

static int take_comma(struct split *s, const char *p, struct err *e)
{
    if (s->depth == 0)
        return err_set(e, ERR_INVALID, "not JSON: ',' outside of an object");
    bool object = top(s)->object;
    if (object && s->want_key)
        return err_set(e, ERR_INVALID, "not JSON: ',' where a key belongs");
    if (object && s->pruned_at == s->depth)
        s->pruned_at = 0;
    if (is_full(s))
        s->pruned_at = s->depth;
    s->want_key = object; /* the next member that is kept brings the comma */
    /* Nothing is emitted between the items of a list. */
    return object || at_item(s) ? 0 : emit(s, p, 1, e);
}

static int refuse_between(char c, struct err *e)
{
    return err_set(e, ERR_INVALID, "not JSON: '%c' where an object belongs", c);
}

/* The length of a string that ends here and has no escapes, from its opening quote; 0: it must be
 * looked at closely. */
static size_t simple_len(const char *p, size_t n)
{
    const char *quote = memchr(p + 1, '"', n - 1);
    return quote && quote[-1] != '\\' ? (size_t) (quote - p) + 1 : 0;
}

/* The length of a string's available part, from its opening quote. */
static size_t string_len(struct split *s, const char *p, size_t n)
{
    size_t simple = s->in_string ? 0 : simple_len(p, n);
    if (simple)
        return simple;
    size_t i = !s->in_string || s->in_escape;
    const char *quote = i < n ? memchr(p + i, '"', n - i) : NULL;
    if (quote && (quote == p + i || quote[-1] != '\\')) /* nearly always */
        i = (size_t) (quote - p);
    while (i < n && p[i] != '"')
        i += p[i] == '\\' ? 2 : 1;
    s->in_escape = i > n;
    s->in_string = i >= n;
    return s->in_string ? n : i + 1;
}

/* Copies n more bytes of a string. A string that is too long becomes "". */
static int copy_text(struct split *s, const char *p, size_t n, struct err *e)
{
    if (!s->view.only || !s->in_item || s->pruned_at)
        return emit(s, p, n, e);
    if (!s->too_long && item_len(s) - s->string_at + n > SPLIT_STRING_MAX) {
        if (flush(s, e) < 0)
            return -1;
        s->too_long = true;
        s->item.len = s->string_at;
    }
    if (!s->too_long)
        return emit(s, p, n, e);
    return s->in_string ? 0 : emit(s, "\"\"", 2, e);
}

/* Takes n more bytes of a key, which are in one piece nearly always. */
static int take_key(struct split *s, const char *p, size_t n, struct err *e)
{
    if (!s->in_string && s->key.len == 0 && *p == '"') {
        s->key_too_long = n > SPLIT_KEY_MAX;
        return end_key(s, p, n, e);
    }
    s->key_too_long |= !s->pruned_at && !is_bad(s) && !buf_add(&s->key, p, n);
    if (s->in_string)
        return 0;
    int rc = end_key(s, s->key.data, s->key.len, e);
    if (rc == 0)
        rc = flush(s, e); /* the buffer is used again */
    buf_reset(&s->key);
    return rc;
}

/* Takes a string, and the colon after a key that is in one piece. */
static int take_string(struct split *s, const char *p, size_t n, size_t *ret_taken, struct err *e)
{
    bool opens = !s->in_string;
    if (opens && is_between(s))
        return refuse_between('"', e);
    if (opens) {
        s->in_key = s->want_key;
        s->string_at = item_len(s);
        s->too_long = false;
    }
    *ret_taken = string_len(s, p, n);
    return s->in_key ? take_key(s, p, *ret_taken, e) : copy_text(s, p, *ret_taken, e);
}

/* Bytes with a meaning for the splitter, except quotes. */
static bool is_special(char c)
{
    static const bool special[UCHAR_MAX + 1] = {
        [' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true, ['{'] = true,
        ['['] = true, ['}'] = true,  [']'] = true,  [','] = true
    };
    return special[(unsigned char) c];
}

/* Copies colons, numbers, literals and anything else: the parser checks them. */
static int take_scalar(struct split *s, const char *p, size_t n, size_t *ret_taken, struct err *e)
{
    if (is_between(s))
        return refuse_between(*p, e);
    size_t i = 1;
    while (i < n && p[i] != '"' && !is_special(p[i]))
        i++;
    *ret_taken = i;
    return emit(s, p, i, e);
}

static int take_special(struct split *s, const char *p, struct err *e)
{
    switch (*p) {
    case '{':
    case '[':
        return open_container(s, p, e);
    case '}':
    case ']':
        return close_container(s, p, e);
    case ',':
        return take_comma(s, p, e);
    default:
        return s->in_item ? emit(s, p, 1, e) : 0;
    }
}

/* Whether a container here exceeds the depth limit: the text before it is copied first. */
static bool at_limit(const struct split *s)
{
    return s->depth == SPLIT_DEPTH_MAX && !s->pruned_at && !is_bad(s);
}

/* Bytes with a meaning in a container whose view is all or nothing. */
static bool is_bound(char c)
{
    static const bool bound[UCHAR_MAX + 1] = {
        ['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true
    };
    return bound[(unsigned char) c];
}

/* Skips a container that is left out. It may be nested without limit, such as managedFields: of
 * what is in it, brackets are only counted. */
static int skip_plain(struct split *s, const char *p, size_t n, size_t *ret_taken, struct err *e)
{
    struct skip skip = { s->beyond + 1, s->in_string, s->in_escape };
    *ret_taken = skip_json(&skip, p, n);
    s->in_string = skip.in_string;
    s->in_escape = skip.in_escape;
    s->beyond = skip.open ? skip.open - 1 : 0;
    if (skip.open)
        return 0;
    s->plain_at = 0;
    s->want_key = false;
    return pop(s, p[*ret_taken - 1], e);
}

static int take_bracket(struct split *s, char c, struct err *e)
{
    return c == '{' || c == '[' ? push_plain(s, c == '{', e) : pop_plain(s, c, e);
}

/* Copies a container that is kept as a whole, or skips the rest of an object: only its end
 * matters. */
static int take_plain(struct split *s, const char *p, size_t n, size_t *ret_taken, struct err *e)
{
    size_t i = 0;
    int rc = 0;
    while (i < n && rc == 0 && s->depth >= s->plain_at && !(i > 0 && at_limit(s))) {
        if (s->in_string || p[i] == '"')
            i += string_len(s, p + i, n - i);
        else if (is_bound(p[i]))
            rc = take_bracket(s, p[i++], e);
        else
            while (i < n && !is_bound(p[i]))
                i++;
    }
    *ret_taken = i;
    if (rc < 0 || emit(s, p, i, e) < 0)
        return -1;
    if (s->depth >= s->plain_at)
        return 0;
    s->plain_at = 0;
    s->want_key = false;
    return end_container(s, e);
}

int split_feed(struct split *s, const char *bytes, size_t n, struct err *e)
{
    for (size_t i = 0, taken; i < n; i += taken) {
        int rc;
        taken = 1;
        if (s->plain_at && s->pruned_at)
            rc = skip_plain(s, bytes + i, n - i, &taken, e);
        else if (s->plain_at)
            rc = take_plain(s, bytes + i, n - i, &taken, e);
        else if (s->in_string || bytes[i] == '"')
            rc = take_string(s, bytes + i, n - i, &taken, e);
        else if (is_special(bytes[i]))
            rc = take_special(s, bytes + i, e);
        else
            rc = take_scalar(s, bytes + i, n - i, &taken, e);
        if (rc < 0)
            return -1;
    }
    return flush(s, e);
}

static int parse_item(void *arg, const char *text, size_t len, struct err *e)
{
    json_t **object = arg;
    if (*object)
        return err_set(e, ERR_INVALID, "not JSON: a second object");
    *object = json_parse_stored(text, len, e);
    return *object ? 0 : -1;
}

json_t *split_object_begun(const char *text, size_t len, const struct split_view *view)
{
    json_t *object = NULL;
    CLEANUP(split_clear) struct split s;
    split_init(&s, SPLIT_FRAMES, view, parse_item, &object);
    if (split_feed(&s, text, len, NULL) < 0 || object || !s.pruned_at)
        return object;
    /* The cut is in a part left out: close the containers around it. */
    int depth = s.pruned_at;
    for (s.pruned_at = 0; depth > 0; depth--)
        if (emit(&s, s.levels[depth - 1].object ? "}" : "]", 1, NULL) < 0)
            return NULL;
    if (flush(&s, NULL) < 0)
        return NULL;
    parse_item(&object, s.item.data, s.item.len, NULL);
    return object;
}

json_t *split_object(const char *text, size_t len, const struct split_view *view, struct err *e)
{
    json_t *object = NULL;
    CLEANUP(split_clear) struct split s;
    split_init(&s, SPLIT_FRAMES, view, parse_item, &object);
    int rc = split_feed(&s, text, len, e);
    if (rc == 0 && !(object && split_complete(&s)))
        rc = err_set(e, ERR_INVALID, "not JSON: the object is incomplete");
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}
