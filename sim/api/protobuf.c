#include "sim/api/protobuf.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/wire.h"

/* Messages in messages: more than any object here has. */
enum { DEPTH_MAX = 16 };

/* What a field is in JSON. */
enum is { TEXT, NUMBER, TRUTH, TIME, MAP, AMOUNT, MESSAGE };

struct message;

struct field {
    uint32_t number;
    const char *name;
    enum is is;
    const struct message *of; /* a message's */
    bool repeated;
};

struct message {
    const struct field *fields;
    size_t len;
};

#define MESSAGE_OF(name, ...)                                                                      \
    static const struct field name##_fields[] = { __VA_ARGS__ };                                   \
    static const struct message name = { name##_fields, ARRAY_LEN(name##_fields) }

/* ---- what is where */

MESSAGE_OF(metadata, { 1, "name", TEXT, NULL, false }, { 2, "generateName", TEXT, NULL, false },
           { 3, "namespace", TEXT, NULL, false }, { 5, "uid", TEXT, NULL, false },
           { 6, "resourceVersion", TEXT, NULL, false },
           { 8, "creationTimestamp", TIME, NULL, false }, { 11, "labels", MAP, NULL, false },
           { 12, "annotations", MAP, NULL, false }, { 14, "finalizers", TEXT, NULL, true });
MESSAGE_OF(namespace_spec, { 1, "finalizers", TEXT, NULL, true });
MESSAGE_OF(namespace_object, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "spec", MESSAGE, &namespace_spec, false });
MESSAGE_OF(config_map, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "data", MAP, NULL, false }, { 4, "immutable", TRUTH, NULL, false });
MESSAGE_OF(service_account, { 1, "metadata", MESSAGE, &metadata, false },
           { 4, "automountServiceAccountToken", TRUTH, NULL, false });
MESSAGE_OF(selector, { 1, "matchLabels", MAP, NULL, false });
MESSAGE_OF(budget_spec, { 1, "minAvailable", AMOUNT, NULL, false },
           { 2, "selector", MESSAGE, &selector, false },
           { 3, "maxUnavailable", AMOUNT, NULL, false });
MESSAGE_OF(budget, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "spec", MESSAGE, &budget_spec, false });
MESSAGE_OF(priority_class, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "value", NUMBER, NULL, false }, { 3, "globalDefault", TRUTH, NULL, false },
           { 4, "description", TEXT, NULL, false }, { 5, "preemptionPolicy", TEXT, NULL, false });
MESSAGE_OF(port, { 1, "name", TEXT, NULL, false }, { 2, "protocol", TEXT, NULL, false },
           { 3, "port", NUMBER, NULL, false }, { 4, "targetPort", AMOUNT, NULL, false });
MESSAGE_OF(service_spec, { 1, "ports", MESSAGE, &port, true }, { 2, "selector", MAP, NULL, false },
           { 3, "clusterIP", TEXT, NULL, false }, { 4, "type", TEXT, NULL, false });
MESSAGE_OF(service, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "spec", MESSAGE, &service_spec, false });
MESSAGE_OF(container, { 1, "name", TEXT, NULL, false }, { 2, "image", TEXT, NULL, false },
           { 3, "command", TEXT, NULL, true }, { 4, "args", TEXT, NULL, true });
MESSAGE_OF(pod_spec, { 2, "containers", MESSAGE, &container, true },
           { 3, "restartPolicy", TEXT, NULL, false });
MESSAGE_OF(template, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "spec", MESSAGE, &pod_spec, false });
MESSAGE_OF(job_spec, { 6, "template", MESSAGE, &template, false });
MESSAGE_OF(job, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "spec", MESSAGE, &job_spec, false });
MESSAGE_OF(deployment_spec, { 1, "replicas", NUMBER, NULL, false },
           { 2, "selector", MESSAGE, &selector, false },
           { 3, "template", MESSAGE, &template, false });
MESSAGE_OF(deployment, { 1, "metadata", MESSAGE, &metadata, false },
           { 2, "spec", MESSAGE, &deployment_spec, false });

static const struct {
    const char *api_version, *kind;
    const struct message *message;
} kinds[] = {
    { "v1", "Namespace", &namespace_object },
    { "v1", "ConfigMap", &config_map },
    { "v1", "Service", &service },
    { "v1", "ServiceAccount", &service_account },
    { "batch/v1", "Job", &job },
    { "apps/v1", "Deployment", &deployment },
    { "policy/v1", "PodDisruptionBudget", &budget },
    { "scheduling.k8s.io/v1", "PriorityClass", &priority_class },
};

/* ---- as JSON */

/* Whether a field is empty: zero, or a message of empty fields. Clients send those, too. */
static bool says_nothing(const struct wire_field *p, int depth)
{
    struct wire_rest r = p->bytes;
    if (p->wire == WIRE_VARINT)
        return p->value == 0;
    for (struct wire_field inner; r.len > 0;)
        if (p->wire != WIRE_BYTES || depth == 0 || !wire_take(&r, &inner) ||
            !says_nothing(&inner, depth - 1))
            return false;
    return true;
}

static int refuse_bytes(struct err *e)
{
    return err_set(e, ERR_INVALID, "the bytes are no such message");
}

/* For functions that return JSON. */
static json_t *no_message(struct err *e)
{
    refuse_bytes(e);
    return NULL;
}

static json_t *protobuf_text_of(struct wire_rest r)
{
    return json_stringn(r.len ? (const char *) r.at : "", r.len);
}

static json_t *protobuf_time_of(struct wire_rest r)
{
    struct wire_field seconds;
    char text[CLOCK_TEXT_MAX];
    if (!wire_find(r, 1, &seconds) || seconds.value > UINT64_C(253402300799))
        return NULL;
    clock_rfc3339((int64_t) seconds.value * 1000000, text);
    return json_string(text);
}

/* A number, or a text such as "50%". */
static json_t *amount_of(struct wire_rest r)
{
    struct wire_field type, number, text;
    if (!wire_find(r, 1, &type) || !wire_find(r, 2, &number) || !wire_find(r, 3, &text))
        return NULL;
    return type.value ? protobuf_text_of(text.bytes) : json_integer((int32_t) number.value);
}

/* One entry of a map more. */
static bool add_entry(json_t *map, struct wire_rest r)
{
    struct wire_field key, value;
    if (!wire_find(r, 1, &key) || !wire_find(r, 2, &value))
        return false;
    CLEANUP_JSON json_t *name = protobuf_text_of(key.bytes);
    json_t *text = protobuf_text_of(value.bytes);
    if (!name || !text || strlen(json_string_value(name)) != json_string_length(name)) {
        json_decref(text);
        return false;
    }
    return json_object_set_new(map, json_string_value(name), text) == 0;
}

static json_t *object_of(struct wire_rest r, const struct message *m, int depth, struct err *e);

static json_t *protobuf_value_of(const struct wire_field *p, const struct field *f, int depth,
                                 struct err *e)
{
    switch (f->is) {
    case TEXT:
        return protobuf_text_of(p->bytes);
    case NUMBER:
        return json_integer((json_int_t) p->value);
    case TRUTH:
        return json_boolean(p->value);
    case TIME:
        return protobuf_time_of(p->bytes);
    case AMOUNT:
        return amount_of(p->bytes);
    case MESSAGE:
        return depth > 0 ? object_of(p->bytes, f->of, depth - 1, e) : NULL;
    case MAP:
        break; /* is put together by its entries */
    }
    return NULL;
}

/* The member with that name; creates it if it is absent. Borrowed. */
static json_t *protobuf_member(json_t *object, const char *name, json_t *made_steal)
{
    if (json_object_get(object, name))
        json_decref(made_steal);
    else
        json_object_set_new(object, name, made_steal);
    return json_object_get(object, name);
}

static int add_part(json_t *object, const struct wire_field *p, const struct field *f, int depth,
                    struct err *e)
{
    bool number = f->is == NUMBER || f->is == TRUTH;
    if (p->wire != (number ? WIRE_VARINT : WIRE_BYTES))
        return refuse_bytes(e);
    if (f->is == MAP)
        return add_entry(protobuf_member(object, f->name, json_object()), p->bytes)
                   ? 0
                   : refuse_bytes(e);
    json_t *value = protobuf_value_of(p, f, depth, e);
    if (!value)
        return e->kind == ERR_NONE ? refuse_bytes(e) : -1;
    if (f->repeated)
        return json_array_append_new(protobuf_member(object, f->name, json_array()), value);
    return json_object_set_new(object, f->name, value);
}

static const struct field *field_of(const struct message *m, uint32_t number)
{
    for (size_t i = 0; i < m->len; i++)
        if (m->fields[i].number == number)
            return &m->fields[i];
    return NULL;
}

static json_t *object_of(struct wire_rest r, const struct message *m, int depth, struct err *e)
{
    CLEANUP_JSON json_t *object = json_object();
    for (struct wire_field p; r.len > 0;) {
        if (!wire_take(&r, &p))
            return no_message(e);
        const struct field *f = field_of(m, p.number);
        /* Empty items of lists and maps count, and so does a number that is present. */
        bool counts = f && (f->repeated || f->is == MAP || f->is == NUMBER || f->is == AMOUNT);
        if (!counts && says_nothing(&p, DEPTH_MAX))
            continue;
        if (!f) {
            err_set(e, ERR_NOT_FOUND,
                    "field %" PRIu32 " of it is not known here in this form; send JSON", p.number);
            return NULL;
        }
        if (add_part(object, &p, f, depth, e) < 0)
            return NULL;
    }
    return json_incref(object);
}

json_t *protobuf_object(const char *bytes, size_t len, struct err *e)
{
    static const char magic[] = { 'k', '8', 's', '\0' };
    struct wire_rest whole = { (const unsigned char *) bytes, len };
    struct wire_field type, raw, version, kind;
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return no_message(e);
    whole = (struct wire_rest){ whole.at + sizeof magic, len - sizeof magic };
    if (!wire_find(whole, 1, &type) || !wire_find(whole, 2, &raw) ||
        !wire_find(type.bytes, 1, &version) || !wire_find(type.bytes, 2, &kind))
        return no_message(e);
    CLEANUP_JSON json_t *its_version = protobuf_text_of(version.bytes),
                        *its_kind = protobuf_text_of(kind.bytes);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_eq(json_string_value(its_version), kinds[i].api_version) ||
            !str_eq(json_string_value(its_kind), kinds[i].kind))
            continue;
        json_t *object = object_of(raw.bytes, kinds[i].message, DEPTH_MAX, e);
        if (object) {
            json_object_set(object, "apiVersion", its_version);
            json_object_set(object, "kind", its_kind);
        }
        return object;
    }
    err_set(e, ERR_NOT_FOUND, "objects of this kind are not known here in this form; send JSON");
    return NULL;
}
