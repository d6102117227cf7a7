/* The subresource scale. */
#include "sim/api/serve.h"

#include "base/json.h"
#include "sim/api/body.h"
#include "sim/api/patch.h"

/* The labels of a selector as a query would write them. Owned by the caller. */
static char *selector_text(const json_t *labels)
{
    CLEANUP_BUF struct buf text = BUF_INIT(1 << 20);
    JSON_EACH_MEMBER (key, value, labels)
        buf_printf(&text, "%s%s=%s", text.len ? "," : "", key, json_string_value(value));
    return buf_take(&text);
}

static json_t *scale_of(const json_t *object)
{
    json_t *metadata = json_object();
    static const char *const kept[] = { "name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp" };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        json_object_set(metadata, kept[i],
                        json_object_get(json_object_get(object, "metadata"), kept[i]));
    CLEANUP_FREE char *selector = selector_text(json_at(object, "spec.selector.matchLabels"));
    return json_pack("{s:s, s:s, s:o, s:{s:I}, s:{s:I, s:s}}", "kind", "Scale", "apiVersion",
                     "autoscaling/v1", "metadata", metadata, "spec", "replicas",
                     (json_int_t) json_int(object, "spec.replicas", 0), "status", "replicas",
                     (json_int_t) json_int(object, "status.replicas", 0), "selector", selector);
}

/* The wanted scale: the body of a PUT, or the result of a merge patch. New reference. */
static json_t *asked_scale(struct serving *s, const json_t *scale)
{
    static const struct kind kind = { .group = "autoscaling", .version = "v1", .kind = "Scale" };
    if (!body_is_of(s->call, "application/merge-patch+json"))
        return body_object(s->call, &kind, false, &s->refusal);
    CLEANUP_JSON json_t *patch = body_patch(s->call, false, &s->refusal);
    return patch ? patch_merge(scale, patch) : NULL;
}

int serve_scale(struct serving *s)
{
    const struct path *p = &s->path;
    const json_t *object = api_get(s->api, p->kind, p->ns, p->name);
    if (!object)
        return refuse_not_found(&s->refusal, p->kind, p->name);
    CLEANUP_JSON json_t *scale = scale_of(object);
    if (*s->call->method == 'G')
        return serve_json(s, 200, json_incref(scale));
    if (serve_begin_write(s, "UpdateOptions") < 0)
        return -1;
    CLEANUP_JSON json_t *asked = asked_scale(s, scale);
    if (!asked)
        return -1;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:I}}", "spec", "replicas",
                                           (json_int_t) json_int(asked, "spec.replicas", 0));
    if (*json_str_or_empty(asked, "metadata.resourceVersion"))
        json_set_at(patch, "metadata.resourceVersion",
                    json_incref(json_at(asked, "metadata.resourceVersion")));
    struct write w = serve_write(s, API_UPDATE);
    json_t *scaled;
    if (write_patch(s->api, &w, PATCH_MERGE, patch, &scaled, &s->refusal) < 0)
        return -1;
    json_t *answer = scale_of(scaled);
    json_decref(scaled);
    return serve_json(s, 200, answer);
}
