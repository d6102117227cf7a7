/* Tables of custom resources, by the columns of their definition. */
#include "sim/api/table.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"

json_t *table_custom_columns(const json_t *version)
{
    json_t *columns = json_object_get(version, "additionalPrinterColumns");
    return columns ? json_incref(columns)
                   : json_pack("[{s:s, s:s, s:s}]", "name", "Age", "type", "date", "jsonPath",
                               ".metadata.creationTimestamp");
}

/* As text, the way Go prints a value. */
static json_t *text_cell(const json_t *value)
{
    if (json_is_string(value))
        return json_incref((json_t *) value);
    CLEANUP_FREE char *text = json_compact(value);
    return json_text(text);
}

static json_t *date_cell(const json_t *value, int64_t now_us)
{
    const char *time = json_string_value(value);
    if (!time)
        return json_null();
    CLEANUP_FREE char *age = clock_parse_rfc3339(time) < 0 ? xstrdup("<invalid>")
                                                           : table_age(time, now_us);
    return json_text(age);
}

json_t *cell_custom(const struct cell *c)
{
    const char *type = c->type;
    const json_t *value = pick(c->object, c->path);
    if (!value)
        return json_null();
    if (str_eq(type, "string"))
        return text_cell(value);
    if (str_eq(type, "date"))
        return date_cell(value, c->now_us);
    if (str_eq(type, "integer") && json_is_number(value))
        return json_integer((json_int_t) json_number_value(value));
    bool fits = str_eq(type, "boolean") ? json_is_boolean(value) : json_is_number(value);
    return fits ? json_incref((json_t *) value) : json_null();
}
