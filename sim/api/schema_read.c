/* Reads an object by the schema of a CustomResourceDefinition. */
#include "base/json.h"
#include "sim/api/draft.h"
#include "sim/api/schema.h"
#include "sim/api/schema_tree.h"

static void note_unknown(const struct spot *at, json_t *unknown)
{
    CLEANUP_FREE char *place = spot_text(at);
    json_array_append_new(unknown, json_text(place));
}

static void schema_read_fill_in(const struct schema *s, const struct spot *at, struct draft *d,
                                json_t *unknown)
{
    for (size_t i = 0; i < s->default_count; i++) {
        if (draft_get(d, s->default_names[i]))
            continue;
        const json_t *value = json_object_get(s->with_default[i]->source, "default");
        draft_set(
            d, s->default_names[i],
            schema_read(s->with_default[i], SPOT(at, s->default_names[i]), NULL, value, unknown));
    }
}

static void read_member(const struct schema *s, const struct spot *at, const json_t *before,
                        const char *key, json_t *value, struct draft *d, json_t *unknown)
{
    const struct schema *property = map_get(&s->properties, key);
    const struct schema *inner = property ? property : s->additional;
    if (!inner && !s->preserves)
        note_unknown(at, unknown);
    if (inner ? property && json_is_null(value) && !inner->nullable : !s->preserves)
        draft_drop(d, key);
    else if (inner)
        draft_set(d, key, schema_read(inner, at, json_object_get(before, key), value, unknown));
}

static json_t *schema_read_read_object(const struct schema *s, const struct spot *at,
                                       const json_t *before, const json_t *value, json_t *unknown)
{
    struct draft d = draft_of(value);
    JSON_EACH_MEMBER (key, member, value) {
        if (member != json_object_get(before, key))
            read_member(s, SPOT(at, key), before, key, member, &d, unknown);
    }
    schema_read_fill_in(s, at, &d, unknown);
    return draft_end(&d);
}

static json_t *read_array(const struct schema *s, const struct spot *at, const json_t *before,
                          const json_t *value, json_t *unknown)
{
    struct draft d = draft_of(value);
    JSON_EACH_AT (i, item, value)
        draft_set_item(
            &d, i,
            schema_read(s->items, SPOT_ITEM(at, i), json_array_get(before, i), item, unknown));
    return draft_end(&d);
}

json_t *schema_read(const struct schema *s, const struct spot *at, const json_t *before,
                    const json_t *value, json_t *unknown)
{
    if (json_is_real(value) && schema_is_integer(value)) /* the server's own JSON has no 3.0 */
        return json_integer((json_int_t) json_real_value(value));
    if (value != before && s->type == SCHEMA_OBJECT && json_is_object(value))
        return schema_read_read_object(s, at, before, value, unknown);
    if (value != before && s->items && json_is_array(value))
        return read_array(s, at, before, value, unknown);
    return json_incref((json_t *) value);
}
