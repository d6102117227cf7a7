#include "base/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml_scalar.h"

/* Limits. libyaml has none and takes quadratic time in the depth, so the parser limits nesting
 * here. */
enum {
    TEXT_MAX = 4 << 20,
    DEPTH_MAX = 100,
    ANCHORS_MAX = 256,
    NODE_COST = 16,     /* of each node, plus the bytes of its text */
    COST_MAX = 8 << 20, /* with aliases counted at each use */
    SHOWN_MAX = 60,     /* most of a foreign text in a message */
};

struct anchor {
    char *name;
    json_t *value;
    size_t cost;
    int height;
};

struct reader {
    yaml_parser_t parser;
    struct anchor anchors[ANCHORS_MAX];
    size_t anchor_count;
    struct yaml_lines *lines; /* NULL: not wanted */
    size_t cost;
    int depth;
    struct err *e;
};

static json_t *yaml_read_node(struct reader *r, yaml_event_t *event, uint64_t path);

static void note_line(struct reader *r, uint64_t path, const yaml_event_t *event)
{
    yaml_lines_note(r->lines, path, (int) event->start_mark.line + 1);
}

/* Always NULL: no value, or as a bool: false. */
PRINTF(3, 4) static void *fail_at(struct reader *r, const yaml_event_t *event, const char *fmt, ...)
{
    CLEANUP_FREE char *what = FORMATTED(fmt);
    err_set(r->e, ERR_INVALID, "line %zu: %s", event->start_mark.line + 1, what);
    return NULL;
}

/* The usual cause of a libyaml error. */
static const char *hint_for(const char *problem)
{
    static const struct {
        const char *problem, *hint;
    } hints[] = {
        { "found character that cannot start any token",
          "; indent with spaces, not with tabs, and put text that begins with @, ` or % in "
          "quotes" },
        { "mapping values are not allowed in this context",
          "; put text that holds \": \" in quotes, or look at the indentation" },
        { "did not find expected key", "; look at the indentation of this line and the one above" },
        { "did not find expected '-' indicator",
          "; look at the indentation of this line and the one above" },
        { "did not find expected ',' or ']'", "; a list in brackets is not closed" },
        { "did not find expected ',' or '}'", "; a map in braces is not closed" },
        { "found unexpected end of stream", "; a quote is not closed" },
    };
    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (str_eq(hints[i].problem, problem))
            return hints[i].hint;
    return "";
}

static int next_event(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return 0;
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "not YAML";
    if (p->error == YAML_READER_ERROR)
        return err_set(r->e, ERR_INVALID, "byte %zu: %s", p->problem_offset, problem);
    return err_set(r->e, ERR_INVALID, "line %zu, column %zu: %s%s%s%s", p->problem_mark.line + 1,
                   p->problem_mark.column + 1, problem, p->context ? ", " : "",
                   p->context ? p->context : "", hint_for(problem));
}

static bool spend(struct reader *r, const yaml_event_t *event, size_t cost)
{
    r->cost += cost;
    if (r->cost > COST_MAX)
        return fail_at(r, event, "too much content, aliases included (limit %d MiB)",
                       COST_MAX >> 20);
    return true;
}

static int height_of(json_t *value)
{
    int tallest = 0;
    JSON_EACH_MEMBER (key, child, value) {
        int height = height_of(child);
        tallest = height > tallest ? height : tallest;
    }
    JSON_EACH (child, value) {
        int height = height_of(child);
        tallest = height > tallest ? height : tallest;
    }
    return tallest + 1;
}

static struct anchor *find_anchor(struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->anchor_count; i++)
        if (str_eq(r->anchors[i].name, name))
            return &r->anchors[i];
    return NULL;
}

/* An anchor becomes known when its node is complete, so an alias is never inside its own anchor. */
static bool keep_anchor(struct reader *r, const yaml_event_t *event, const char *name,
                        json_t *value, size_t cost)
{
    struct anchor *anchor = find_anchor(r, name);
    if (!anchor) {
        if (r->anchor_count == ANCHORS_MAX)
            return fail_at(r, event, "more than %d anchors", ANCHORS_MAX);
        anchor = &r->anchors[r->anchor_count++];
        *anchor = (struct anchor){ .name = xstrdup(name) };
    }
    json_decref(anchor->value);
    anchor->value = json_incref(value);
    anchor->cost = cost;
    anchor->height = height_of(value);
    return true;
}

static void forget_anchors(struct reader *r)
{
    while (r->anchor_count > 0) {
        struct anchor *anchor = &r->anchors[--r->anchor_count];
        free(anchor->name);
        json_decref(anchor->value);
    }
}

static json_t *read_alias(struct reader *r, const yaml_event_t *event)
{
    const char *name = (const char *) event->data.alias.anchor;
    const struct anchor *anchor = find_anchor(r, name);
    CLEANUP_FREE char *shown = str_shortened(name, SHOWN_MAX);
    if (!anchor)
        return fail_at(r, event, "the alias *%s has no complete anchor above it", shown);
    if (r->depth + anchor->height > DEPTH_MAX)
        return fail_at(r, event, "the alias *%s nests deeper than %d levels", shown, DEPTH_MAX);
    if (!spend(r, event, anchor->cost))
        return NULL;
    return json_deep_copy(anchor->value);
}

/* The kinds that a core tag allows; other tags make a string, as local tags do. */
static const struct core_tag {
    const char *tag;
    unsigned kinds;
} core_tags[] = {
    { YAML_BOOL_TAG, 1u << YAML_SCALAR_BOOL },
    { YAML_INT_TAG, 1u << YAML_SCALAR_INT },
    { YAML_FLOAT_TAG, 1u << YAML_SCALAR_INT | 1u << YAML_SCALAR_FLOAT },
    { YAML_NULL_TAG, 1u << YAML_SCALAR_NULL },
};

static bool resolve(struct reader *r, const yaml_event_t *event, struct yaml_scalar *ret)
{
    const char *text = (const char *) event->data.scalar.value;
    const char *tag = (const char *) event->data.scalar.tag;
    if (memchr(text, '\0', event->data.scalar.length))
        return fail_at(r, event, "a NUL character in a text");
    if (tag && str_eq(tag, "tag:yaml.org,2002:binary"))
        return fail_at(r, event, "!!binary is not supported: write the text itself");
    const struct core_tag *core = NULL;
    for (size_t i = 0; tag && i < ARRAY_LEN(core_tags); i++)
        if (str_eq(tag, core_tags[i].tag))
            core = &core_tags[i];
    *ret = (struct yaml_scalar){ .kind = YAML_SCALAR_STRING };
    if (core || (!tag && event->data.scalar.plain_implicit))
        *ret = yaml_scalar_of(text);
    CLEANUP_FREE char *shown = str_shortened(text, SHOWN_MAX);
    if (ret->kind == YAML_SCALAR_NO_JSON)
        return fail_at(r, event, "the number %s is out of range: quote it if it is a text", shown);
    if (core && !(core->kinds & 1u << ret->kind))
        return fail_at(r, event, "\"%s\" does not match its tag", shown);
    return true;
}

static json_t *read_scalar(struct reader *r, const yaml_event_t *event)
{
    struct yaml_scalar scalar;
    if (!spend(r, event, event->data.scalar.length) || !resolve(r, event, &scalar))
        return NULL;
    json_t *value = NULL;
    switch (scalar.kind) {
    case YAML_SCALAR_NULL:
        return json_null();
    case YAML_SCALAR_BOOL:
        return json_boolean(scalar.boolean);
    case YAML_SCALAR_INT:
        return json_integer(scalar.integer);
    case YAML_SCALAR_FLOAT:
        return json_real(scalar.real);
    case YAML_SCALAR_STRING:
    case YAML_SCALAR_NO_JSON:
        value = json_stringn((const char *) event->data.scalar.value, event->data.scalar.length);
        break;
    }
    return value ? value : fail_at(r, event, "a text that is not UTF-8");
}

static json_t *read_sequence(struct reader *r, uint64_t path)
{
    CLEANUP_JSON json_t *array = json_array();
    for (size_t i = 0;; i++) {
        CLEANUP(yaml_event_delete) yaml_event_t event = { .type = YAML_NO_EVENT };
        if (next_event(r, &event) < 0)
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return TAKE(array);
        uint64_t item_path = yaml_path_of_index(path, i);
        note_line(r, item_path, &event);
        json_t *item = yaml_read_node(r, &event, item_path);
        if (!item)
            return NULL;
        json_array_append_new(array, item);
    }
}

/* Booleans and numbers become their JSON text, as `y:` becomes "true". */
static char *read_key(struct reader *r, const yaml_event_t *event)
{
    struct yaml_scalar key;
    if (event->type != YAML_SCALAR_EVENT)
        return fail_at(r, event, "a key must be a word, not a list, a map or an alias");
    if (!spend(r, event, NODE_COST + event->data.scalar.length) || !resolve(r, event, &key))
        return NULL;
    switch (key.kind) {
    case YAML_SCALAR_NULL:
        return fail_at(r, event, "a key is missing or null");
    case YAML_SCALAR_BOOL:
        return xstrdup(key.boolean ? "true" : "false");
    case YAML_SCALAR_INT:
        return xasprintf("%lld", (long long) key.integer);
    case YAML_SCALAR_FLOAT:
    case YAML_SCALAR_STRING:
    case YAML_SCALAR_NO_JSON:
        break;
    }
    return xstrdup((const char *) event->data.scalar.value);
}

static bool is_merge_key(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.plain_implicit &&
           str_eq((const char *) event->data.scalar.value, "<<");
}

/* `<<: *base` or `<<: [*a, *b]`: adds missing keys, so the first one wins. */
static bool merge_into(struct reader *r, const yaml_event_t *event, json_t *into, json_t *value)
{
    if (json_is_object(value))
        return json_object_update_missing(into, value) == 0;
    JSON_EACH (item, value) {
        if (!json_is_object(item))
            return fail_at(r, event, "<< must name maps");
        json_object_update_missing(into, item);
    }
    return json_is_array(value) || fail_at(r, event, "<< must name a map");
}

static bool read_pair(struct reader *r, yaml_event_t *event, json_t *object, json_t *merged,
                      uint64_t path)
{
    CLEANUP_FREE char *key = read_key(r, event);
    if (!key)
        return false;
    bool merge = is_merge_key(event);
    if (!merge && json_object_get(object, key)) {
        CLEANUP_FREE char *shown = str_shortened(key, SHOWN_MAX);
        return fail_at(r, event, "the key \"%s\" is set twice", shown);
    }
    uint64_t value_path = yaml_path_of_key(path, key);
    note_line(r, value_path, event);
    CLEANUP(yaml_event_delete) yaml_event_t value_event = { .type = YAML_NO_EVENT };
    if (next_event(r, &value_event) < 0)
        return false;
    CLEANUP_JSON json_t *value = yaml_read_node(r, &value_event, value_path);
    if (!value)
        return false;
    if (merge)
        return merge_into(r, event, merged, value);
    if (json_object_set(object, key, value) < 0)
        return fail_at(r, event, "a key that is not UTF-8");
    return true;
}

static json_t *read_mapping(struct reader *r, uint64_t path)
{
    CLEANUP_JSON json_t *object = json_object();
    CLEANUP_JSON json_t *merged = json_object();
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = { .type = YAML_NO_EVENT };
        if (next_event(r, &event) < 0)
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT)
            break;
        if (!read_pair(r, &event, object, merged, path))
            return NULL;
    }
    json_object_update_missing(object, merged);
    return TAKE(object);
}

static json_t *read_nested(struct reader *r, const yaml_event_t *event, uint64_t path)
{
    if (r->depth == DEPTH_MAX)
        return fail_at(r, event, "nested deeper than %d levels", DEPTH_MAX);
    r->depth++;
    json_t *value = event->type == YAML_MAPPING_START_EVENT ? read_mapping(r, path)
                                                            : read_sequence(r, path);
    r->depth--;
    return value;
}

static const char *anchor_of(const yaml_event_t *event)
{
    const yaml_char_t *name = event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
                              : event->type == YAML_MAPPING_START_EVENT
                                  ? event->data.mapping_start.anchor
                              : event->type == YAML_SEQUENCE_START_EVENT
                                  ? event->data.sequence_start.anchor
                                  : NULL;
    return (const char *) name;
}

static json_t *yaml_read_node(struct reader *r, yaml_event_t *event, uint64_t path)
{
    size_t cost_before = r->cost;
    if (!spend(r, event, NODE_COST))
        return NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(r, event);
    CLEANUP_JSON json_t *value = event->type == YAML_SCALAR_EVENT ? read_scalar(r, event)
                                                                  : read_nested(r, event, path);
    const char *name = anchor_of(event);
    if (value && name && !keep_anchor(r, event, name, value, r->cost - cost_before))
        return NULL;
    return TAKE(value);
}

static int read_document(struct reader *r, json_t *documents)
{
    CLEANUP(yaml_event_delete) yaml_event_t event = { .type = YAML_NO_EVENT };
    if (next_event(r, &event) < 0)
        return -1;
    note_line(r, yaml_path_root, &event);
    json_t *root = yaml_read_node(r, &event, yaml_path_root);
    forget_anchors(r);
    if (!root)
        return -1;
    if (json_is_null(root)) {
        yaml_lines_reset(r->lines);
        return 0;
    }
    r->lines = NULL; /* only the first document has lines */
    return json_array_append_new(documents, root);
}

static json_t *read_stream(struct reader *r)
{
    CLEANUP_JSON json_t *documents = json_array();
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = { .type = YAML_NO_EVENT };
        if (next_event(r, &event) < 0)
            return NULL;
        if (event.type == YAML_STREAM_END_EVENT)
            return TAKE(documents);
        if (event.type == YAML_DOCUMENT_START_EVENT && read_document(r, documents) < 0)
            return NULL;
    }
}

json_t *yaml_parse(const char *text, size_t len, struct yaml_lines **ret_lines, struct err *e)
{
    if (len > TEXT_MAX) {
        err_set(e, ERR_TOO_LARGE, "larger than %d MiB", TEXT_MAX >> 20);
        return NULL;
    }
    struct reader *r = xcalloc(1, sizeof *r);
    struct yaml_lines *lines = ret_lines ? yaml_lines_new() : NULL;
    r->e = e;
    r->lines = lines;
    json_t *documents = NULL;
    if (yaml_parser_initialize(&r->parser)) {
        yaml_parser_set_input_string(&r->parser, (const unsigned char *) text, len);
        documents = read_stream(r);
        yaml_parser_delete(&r->parser);
    } else {
        err_set(e, ERR_SYSTEM, "the YAML reader is out of memory");
    }
    forget_anchors(r);
    free(r);
    if (!documents) {
        yaml_lines_free(lines);
        return NULL;
    }
    yaml_lines_finish(lines);
    if (ret_lines)
        *ret_lines = lines;
    return documents;
}

static int yaml_read_all(FILE *file, struct buf *ret)
{
    char chunk[16384];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) {
        if (!buf_add(ret, chunk, n)) {
            errno = EFBIG;
            return -1;
        }
    }
    return ferror(file) ? -1 : 0;
}

const char *yaml_file_name(const char *path)
{
    return str_eq(path, "-") ? "standard input" : path;
}

json_t *yaml_parse_file(const char *path, struct yaml_lines **ret_lines, struct err *e)
{
    bool is_stdin = str_eq(path, "-");
    const char *name = yaml_file_name(path);
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    int rc = file ? yaml_read_all(file, &text) : -1;
    int reason = errno;
    if (file && !is_stdin)
        fclose(file);
    if (rc < 0) {
        err_set(e, reason == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM, "cannot read %s: %s", name,
                strerror(reason));
        return NULL;
    }
    json_t *documents = yaml_parse(buf_text(&text), text.len, ret_lines, e);
    if (!documents)
        err_wrap(e, "%s", name);
    return documents;
}
