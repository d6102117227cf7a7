/* JSON patches (RFC 6902). */
#include "sim/api/patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/typed.h"

enum {
    OPERATIONS_MAX = 10000,
    /* bytes that the copies of one patch come to: the server's JSONPatchMaxCopyBytes */
    COPIED_MAX = 3 << 20,
    DEPTH_MAX = JSON_PARSER_MAX_DEPTH, /* of the result, so that it can be parsed again */
};

/* One patch on its way. */
struct patching {
    json_t *document; /* its top level is not shared */
    size_t copied;    /* bytes, so far */
};

/* ---- pointers */

/* The next step of a path, decoded; *path moves behind it, to NULL after the last one. Owned by the
 * caller. */
static char *next_step(const char **path)
{
    size_t len = strcspn(*path, "/"), out = 0;
    char *step = xstrndup(*path, len);
    *path = (*path)[len] ? *path + len + 1 : NULL;
    for (size_t i = 0; i < len; i++) {
        bool escape = step[i] == '~' && (step[i + 1] == '0' || step[i + 1] == '1');
        step[out++] = !escape ? step[i] : step[i + 1] == '1' ? '/' : '~';
        i += escape;
    }
    step[out] = '\0';
    return step;
}

/* Parses a list's index; negative ones count from the end, `size`. False: invalid or outside of [0,
 * size]. */
static bool read_index(const char *step, size_t size, size_t *ret)
{
    int64_t index;
    if (!str_parse_int(step, -(int64_t) size, (int64_t) size, &index))
        return false;
    *ret = (size_t) (index < 0 ? index + (int64_t) size : index);
    return true;
}

/* The child at a step; NULL if it is absent or null. */
static json_t *child_of(const json_t *container, const char *step)
{
    size_t index;
    json_t *child = json_object_get(container, step);
    if (json_is_array(container) && read_index(step, json_array_size(container), &index))
        child = json_array_get(container, index);
    return json_is_null(child) ? NULL : child;
}

static void set_child(json_t *container, const char *step, json_t *child_steal)
{
    size_t index;
    if (json_is_object(container))
        json_object_set_new(container, step, child_steal);
    else if (read_index(step, json_array_size(container), &index))
        json_array_set_new(container, index, child_steal);
}

/* A value in a document: its container, and its step in there. */
struct place {
    json_t *container; /* borrowed */
    char *step;        /* owned */
    size_t depth;      /* of the container's members: 1 at the top */
};

static void place_clear(struct place *p)
{
    free(p->step);
}

#define CLEANUP_PLACE CLEANUP(place_clear)

/* Finds a place; false where nothing leads to it. Containers on the way become copies of the
 * document's own, for they may be shared. */
static bool patch_json_find(json_t *document, const char *path, struct place *ret)
{
    *ret = (struct place){ 0 };
    const char *rest = path ? strchr(path, '/') : NULL;
    if (!rest)
        return false;
    rest++;
    ret->container = document;
    ret->depth = 1;
    ret->step = next_step(&rest);
    while (rest) {
        json_t *child = child_of(ret->container, ret->step);
        if (!json_is_object(child) && !json_is_array(child))
            return false;
        json_t *own = json_copy(child);
        set_child(ret->container, ret->step, own);
        ret->container = own;
        ret->depth++;
        free(ret->step);
        ret->step = next_step(&rest);
    }
    return true;
}

/* Whether a value has no more levels than these. It looks no deeper. */
static bool has_levels(const json_t *value, size_t most)
{
    bool container = json_is_object(value) || json_is_array(value);
    if (!container || most == 0)
        return !container;
    JSON_EACH_MEMBER (name, child, value)
        if (!has_levels(child, most - 1))
            return false;
    JSON_EACH_AT (i, child, value)
        if (!has_levels(child, most - 1))
            return false;
    return true;
}

static bool is_shallow_enough(const struct place *p, const json_t *value)
{
    return p->depth <= DEPTH_MAX && has_levels(value, DEPTH_MAX - p->depth);
}

/* ---- operations: each says whether it could be done */

typedef bool operation_fn(struct patching *patching, const json_t *operation);

/* The value of an operation; null if it is absent. New reference. */
static json_t *patch_json_value_of(const json_t *operation)
{
    json_t *value = json_object_get(operation, "value");
    return value ? json_incref(value) : json_null();
}

static bool patch_json_put(const struct place *p, json_t *value_steal)
{
    size_t size = json_array_size(p->container), index = size;
    CLEANUP_JSON json_t *value = value_steal;
    if (!is_shallow_enough(p, value))
        return false;
    if (json_is_object(p->container))
        return json_object_set(p->container, p->step, value) == 0;
    /* One more place than there are values: a negative index counts from behind the new one. */
    bool from_behind = *p->step == '-';
    bool valid = str_eq(p->step, "-") || read_index(p->step, from_behind ? size + 1 : size, &index);
    return valid && json_array_insert(p->container, index, value) == 0;
}

static bool take_away(const struct place *p)
{
    size_t index;
    if (json_is_object(p->container))
        return json_object_del(p->container, p->step) == 0;
    return read_index(p->step, json_array_size(p->container), &index) &&
           json_array_remove(p->container, index) == 0;
}

static bool has_index(const struct place *p)
{
    size_t index, size = json_array_size(p->container);
    return json_is_object(p->container) || (read_index(p->step, size, &index) && index < size);
}

static bool do_add(struct patching *patching, const json_t *operation)
{
    CLEANUP_PLACE struct place p;
    return patch_json_find(patching->document, json_key(operation, "path"), &p) &&
           patch_json_put(&p, patch_json_value_of(operation));
}

static bool do_remove(struct patching *patching, const json_t *operation)
{
    CLEANUP_PLACE struct place p;
    return patch_json_find(patching->document, json_key(operation, "path"), &p) && take_away(&p);
}

/* A field of an object need not be there; an item of a list must. */
static bool do_replace(struct patching *patching, const json_t *operation)
{
    const char *path = json_key(operation, "path");
    if (str_eq(path, "")) {
        const json_t *value = json_object_get(operation, "value");
        if (!json_is_object(value) && !json_is_array(value))
            return false;
        json_decref(patching->document);
        patching->document = json_copy((json_t *) value);
        return true;
    }
    CLEANUP_PLACE struct place p;
    if (!patch_json_find(patching->document, path, &p) || !has_index(&p))
        return false;
    CLEANUP_JSON json_t *value = patch_json_value_of(operation);
    if (!is_shallow_enough(&p, value))
        return false;
    set_child(p.container, p.step, json_incref(value));
    return true;
}

/* An absent value equals null if its container exists. */
static bool do_test(struct patching *patching, const json_t *operation)
{
    const char *path = json_key(operation, "path");
    CLEANUP_JSON json_t *want = patch_json_value_of(operation);
    if (str_eq(path, ""))
        return json_equal(patching->document, want);
    CLEANUP_PLACE struct place p;
    if (!patch_json_find(patching->document, path, &p) || !has_index(&p))
        return false;
    const json_t *is = child_of(p.container, p.step);
    return is ? json_equal(is, want) : json_is_null(want);
}

/* Puts the value at `from` to `path`: a copy, or itself. */
static bool do_transfer(struct patching *patching, const json_t *operation, bool moves)
{
    CLEANUP_PLACE struct place from, to = { 0 };
    if (!patch_json_find(patching->document, json_key(operation, "from"), &from) ||
        !has_index(&from))
        return false;
    json_t *child = child_of(from.container, from.step);
    CLEANUP_JSON json_t *value = !child  ? json_null()
                                 : moves ? json_incref(child)
                                         : json_deep_copy(child);
    if (!moves)
        patching->copied += json_dumpb(value, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT);
    if (patching->copied > COPIED_MAX || (moves && !take_away(&from)))
        return false;
    return patch_json_find(patching->document, json_key(operation, "path"), &to) &&
           patch_json_put(&to, json_incref(value));
}

static bool do_copy(struct patching *patching, const json_t *operation)
{
    return do_transfer(patching, operation, false);
}

static bool do_move(struct patching *patching, const json_t *operation)
{
    return do_transfer(patching, operation, true);
}

static const struct operation {
    const char *name;
    operation_fn *run;
} operations[] = {
    { "add", do_add },   { "remove", do_remove }, { "replace", do_replace },
    { "test", do_test }, { "move", do_move },     { "copy", do_copy },
};

static bool patch_json_run(struct patching *patching, const json_t *operation)
{
    const char *name = json_key(operation, "op");
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        if (str_eq(operations[i].name, name))
            return operations[i].run(patching, operation);
    return false;
}

/* ---- the form of a patch */

/* 0, or -1 and 400 in the words of Go's decoder. */
static int check_operation(const json_t *operation, struct refusal *r)
{
    static const char *const texts[] = { "op", "path", "from" };
    if (!json_is_object(operation))
        return refuse(r, 400,
                      "error decoding patch: json: cannot unmarshal %s into Go value of type "
                      "handlers.jsonPatchOp",
                      typed_word(operation));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const json_t *text = json_object_get(operation, texts[i]);
        if (text && !json_is_string(text) && !json_is_null(text))
            return refuse(r, 400,
                          "error decoding patch: json: cannot unmarshal %s into Go struct field "
                          "jsonPatchOp.%s of type string",
                          typed_word(text), texts[i]);
    }
    return 0;
}

static int check_form(const json_t *patch, struct refusal *r)
{
    if (!json_is_array(patch))
        return refuse(r, 400,
                      "error decoding patch: json: cannot unmarshal %s into Go value of type "
                      "[]handlers.jsonPatchOp",
                      typed_word(patch));
    JSON_EACH_AT (i, operation, patch)
        if (check_operation(operation, r) < 0)
            return -1;
    size_t count = json_array_size(patch);
    if (count > OPERATIONS_MAX)
        return refuse(r, 413,
                      "Request entity too large: The allowed maximum operations in a JSON patch is "
                      "%d, got %zu",
                      OPERATIONS_MAX, count);
    return 0;
}

json_t *patch_json(const json_t *object, const json_t *patch, struct refusal *r)
{
    if (check_form(patch, r) < 0)
        return NULL;
    struct patching patching = { .document = json_copy((json_t *) object) };
    JSON_EACH_AT (i, operation, patch) {
        if (!patch_json_run(&patching, operation)) {
            json_decref(patching.document);
            refuse_generic(r, 422,
                           "the server rejected our request due to an error in our request");
            return NULL;
        }
    }
    return patching.document;
}
