#include "sim/api/body.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/json_plain.h"
#include "base/str.h"
#include "base/yaml.h"
#include "sim/api/protobuf.h"
#include "sim/api/typed.h"

/* How much of a body is shown in a refusal. */
enum { SHOWN_MAX = 24 };

bool body_is_of(const struct api_call *call, const char *media_type)
{
    const char *type = str_or_empty(call->content_type);
    size_t n = strcspn(type, "; ");
    if (n == 0)
        return str_eq(media_type, "application/json");
    return strlen(media_type) == n && strncasecmp(type, media_type, n) == 0;
}

int body_check_size(const struct api_call *call, struct refusal *r)
{
    if (call->body_len <= BODY_MAX)
        return 0;
    return refuse(r, 413, "Request entity too large: limit is %d", BODY_MAX);
}

static json_t *parse_json(const struct api_call *call, size_t flags, json_error_t *error)
{
    const char *text = call->body_len ? call->body : "";
    json_t *usual = json_plain(text, call->body_len);
    return usual
               ? usual
               : json_loadb(text, call->body_len, flags | JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

/* The document of a YAML text. JSON is YAML, too, but its own parser is faster. */
static json_t *parse_yaml(const struct api_call *call, struct err *e)
{
    json_error_t error;
    json_t *json = parse_json(call, 0, &error);
    if (json)
        return json;
    CLEANUP_JSON json_t *documents = yaml_parse(call->body_len ? call->body : "", call->body_len,
                                                NULL, e);
    return documents ? json_incref(json_array_get(documents, 0)) : NULL;
}

/* The problem of invalid JSON, in the words of the API server. Owned by the caller. */
static char *json_problem(const struct api_call *call, const json_error_t *error)
{
    size_t at = (size_t) error->position;
    if (json_error_code(error) == json_error_premature_end_of_input || call->body_len == 0 ||
        at > call->body_len)
        return xstrdup("unexpected end of JSON input");
    return xasprintf("invalid character: %s", error->text);
}

static json_t *refuse_object(const struct api_call *call, const struct kind *k, const char *why,
                             struct refusal *r)
{
    CLEANUP_FREE char *shown = xstrndup(call->body_len ? call->body : "<empty>",
                                        call->body_len ? call->body_len : strlen("<empty>"));
    CLEANUP_FREE char *cut = str_shortened(shown, SHOWN_MAX);
    CLEANUP_FREE char *head = k ? xasprintf(
                                      "the object provided is unrecognized (must be of type %s): ",
                                      k->kind)
                                : xstrdup("");
    refuse(r, 400, "%scouldn't get version/kind; json parse error: %s (%s)", head, why, cut);
    return NULL;
}

static json_t *refuse_form(struct refusal *r)
{
    refuse(r, 415,
           "the body of the request was in an unknown format - accepted media types include: "
           "application/json, "
           "application/yaml");
    return NULL;
}

static json_t *from_protobuf(const struct api_call *call, const struct kind *k, struct refusal *r)
{
    CLEANUP_ERR struct err e = { 0 };
    json_t *object = protobuf_object(call->body_len ? call->body : "", call->body_len, &e);
    if (object)
        return object;
    if (e.kind == ERR_NOT_FOUND)
        return refuse_form(r);
    refuse(r, 400, "the object provided is unrecognized (must be of type %s): protobuf: %s",
           k ? k->kind : "any", err_msg(&e));
    return NULL;
}

json_t *body_object(const struct api_call *call, const struct kind *k, bool strict,
                    struct refusal *r)
{
    json_t *object;
    if (body_is_of(call, "application/vnd.kubernetes.protobuf"))
        return k && k->flags & KIND_CUSTOM ? refuse_form(r) : from_protobuf(call, k, r);
    if (body_is_of(call, "application/json")) {
        json_error_t error;
        object = parse_json(call, strict ? JSON_REJECT_DUPLICATES : 0, &error);
        if (!object) {
            CLEANUP_FREE char *why = json_problem(call, &error);
            return refuse_object(call, k, why, r);
        }
    } else if (body_is_of(call, "application/yaml")) {
        CLEANUP_ERR struct err e = { 0 };
        object = parse_yaml(call, &e);
        if (!object)
            return refuse_object(call, k, err_msg(&e), r);
    } else {
        return refuse_form(r);
    }
    if (json_is_object(object))
        return object;
    if (json_is_null(object))
        return json_object();
    json_decref(object);
    return refuse_object(call, k, "cannot unmarshal into Go value of type struct", r);
}

json_t *body_patch(const struct api_call *call, enum patch_type type, struct refusal *r)
{
    bool is_list = type == PATCH_JSON;
    const char *head = type == PATCH_STRATEGIC ? "" : "error decoding patch: ";
    json_error_t error;
    json_t *patch = parse_json(call, 0, &error);
    if (!patch) {
        CLEANUP_FREE char *why = json_problem(call, &error);
        refuse(r, 400, "%s%s", head, why);
        return NULL;
    }
    if (is_list ? json_is_array(patch) : json_is_object(patch))
        return patch;
    if (json_is_null(patch) && type != PATCH_MERGE)
        return is_list ? json_array() : json_object();
    if (json_is_null(patch))
        refuse(r, 400, "Invalid JSON Patch");
    else
        refuse(r, 400, "%sjson: cannot unmarshal %s into Go value of type %s", head,
               typed_word(patch), is_list ? "[]handlers.jsonPatchOp" : "map[string]interface {}");
    json_decref(patch);
    return NULL;
}

json_t *body_intent(const struct api_call *call, struct refusal *r)
{
    CLEANUP_ERR struct err e = { 0 };
    json_t *intent = parse_yaml(call, &e);
    if (json_is_object(intent))
        return intent;
    if (!e.kind && (!intent || json_is_null(intent)))
        return json_object();
    refuse(r, 400, "error decoding YAML: %s", e.kind ? err_msg(&e) : "the document is no map");
    json_decref(intent);
    return NULL;
}
