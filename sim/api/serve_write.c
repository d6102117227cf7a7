/* POST, PUT and PATCH requests. */
#include "sim/api/serve.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/admit.h"
#include "sim/api/body.h"
#include "sim/api/event_view.h"
#include "sim/api/state.h"

enum { MANAGER_MAX = 128 };

int serve_begin_write(struct serving *s, const char *kind)
{
    if (write_options_parse(&s->path, kind, &s->options, &s->refusal) < 0)
        return -1;
    const char *given = s->options.field_manager, *agent = str_or_empty(s->call->user_agent);
    size_t n = strcspn(agent, "/");
    s->manager = *given ? xstrdup(given)
                 : n    ? xstrndup(agent, n < MANAGER_MAX ? n : MANAGER_MAX)
                        : xstrdup("unknown");
    return 0;
}

struct write serve_write(const struct serving *s, enum api_verb verb)
{
    const struct write_options *o = &s->options;
    const struct path *p = &s->path;
    return (struct write){ .user = s->user,
                           .manager = s->manager,
                           .verb = verb,
                           .kind = p->kind,
                           .ns = p->ns,
                           .name = p->name,
                           .subresource = p->subresource,
                           .dry_run = o->dry_run,
                           .strict = o->strict,
                           .ret_unknown = o->warn ? &s->answer->unknown : NULL,
                           .from_outside = true };
}

int serve_create(struct serving *s)
{
    if (serve_begin_write(s, "CreateOptions") < 0)
        return -1;
    CLEANUP_JSON json_t *object = body_object(s->call, s->path.kind, s->options.strict,
                                              &s->refusal);
    struct write w = serve_write(s, API_CREATE);
    json_t *made;
    if (!object || write_create(s->api, &w, object, &made, &s->refusal) < 0)
        return -1;
    return serve_object(s, 201, made);
}

/* Whether the object is new: then the user needs the right to create, too. */
static int authorize_new(struct serving *s, bool *ret_new)
{
    *ret_new = !api_get(s->api, s->path.kind, s->path.ns, s->path.name);
    return *ret_new ? serve_authorize(s, "create") : 0;
}

int serve_update(struct serving *s)
{
    if (serve_begin_write(s, "UpdateOptions") < 0)
        return -1;
    CLEANUP_JSON json_t *object = body_object(s->call, s->path.kind, s->options.strict,
                                              &s->refusal);
    struct write w = serve_write(s, API_UPDATE);
    /* The server checks the body before the existing object. */
    if (!object || admission_check_name(&w, object_name(object), &s->refusal) < 0)
        return -1;
    bool is_new = false;
    if (s->path.kind->flags & KIND_PUT_CREATES && authorize_new(s, &is_new) < 0)
        return -1;
    json_t *updated;
    if (write_update(s->api, &w, object, &updated, &s->refusal) < 0)
        return -1;
    return serve_object(s, is_new ? 201 : 200, updated);
}

/* ---- patches */

static const struct patch_media {
    const char *media_type;
    enum patch_type type;
} patch_medias[] = {
    { "application/merge-patch+json", PATCH_MERGE },
    { "application/json-patch+json", PATCH_JSON },
    { "application/strategic-merge-patch+json", PATCH_STRATEGIC },
};

static const struct patch_media *patch_media_of(const struct serving *s)
{
    for (size_t i = 0; i < ARRAY_LEN(patch_medias); i++)
        if (body_is_of(s->call, patch_medias[i].media_type))
            return &patch_medias[i];
    return NULL;
}

static int serve_apply(struct serving *s)
{
    CLEANUP_JSON json_t *intent = body_intent(s->call, &s->refusal);
    bool is_new;
    if (!intent || authorize_new(s, &is_new) < 0)
        return -1;
    struct write w = serve_write(s, API_APPLY);
    json_t *applied;
    if (write_apply(s->api, &w, intent, s->options.force, &applied, &is_new, &s->refusal) < 0)
        return -1;
    return serve_object(s, is_new ? 201 : 200, applied);
}

static int refuse_media(struct serving *s)
{
    if (s->path.kind->flags & KIND_CUSTOM)
        return refuse(
            &s->refusal, 415,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
    return refuse_generic(&s->refusal, 415, "415: Unsupported Media Type");
}

int serve_patch(struct serving *s)
{
    bool apply = body_is_of(s->call, "application/apply-patch+yaml");
    const struct patch_media *media = apply ? NULL : patch_media_of(s);
    /* Strategic merge needs types that Kubernetes knows; a custom kind has none. */
    if (!apply && (!media || (media->type == PATCH_STRATEGIC && s->path.kind->flags & KIND_CUSTOM)))
        return refuse_media(s);
    if (serve_begin_write(s, "PatchOptions") < 0 ||
        write_options_check_patch(&s->path, &s->options, apply, &s->refusal) < 0)
        return -1;
    if (apply)
        return serve_apply(s);
    CLEANUP_JSON json_t *patch = body_patch(s->call, media->type, &s->refusal);
    struct write w = serve_write(s, API_PATCH);
    json_t *patched;
    if (!patch || write_patch(s->api, &w, media->type, patch, &patched, &s->refusal) < 0)
        return -1;
    return serve_object(s, 200, patched);
}

/* ---- subresources that are verbs */

/* 400 if the body is of another known kind. */
static int check_action(struct serving *s, const struct kind *action, const json_t *body)
{
    const struct kind *other = kind_of(json_str_or_empty(body, "apiVersion"),
                                       json_str_or_empty(body, "kind"));
    if (!other)
        return 0;
    return refuse(&s->refusal, 400,
                  "%s in version \"%s\" cannot be handled as a %s: converting (%s.%s) to (%s.%s): "
                  "unknown conversion",
                  other->kind, other->version, action->kind, other->version, other->kind,
                  action->group, action->kind);
}

/* The body of such a request; its name must be that of the pod. */
static json_t *action_body(struct serving *s, const char *group, const char *kind)
{
    const struct kind action = { .group = group, .version = "v1", .kind = kind };
    CLEANUP_JSON json_t *body = body_object(s->call, &action, false, &s->refusal);
    if (!body || check_action(s, &action, body) < 0)
        return NULL;
    if (!str_eq(object_name(body), s->path.name)) {
        refuse(&s->refusal, 400, "name in URL does not match name in %s object", kind);
        return NULL;
    }
    return json_incref(body);
}

static int serve_success(struct serving *s)
{
    return serve_json(s, 201,
                      json_pack("{s:s, s:s, s:{}, s:s, s:i}", "kind", "Status", "apiVersion", "v1",
                                "metadata", "status", "Success", "code", 201));
}

int serve_eviction(struct serving *s)
{
    if (serve_begin_write(s, "CreateOptions") < 0)
        return -1;
    CLEANUP_JSON json_t *eviction = action_body(s, "policy", "Eviction");
    if (!eviction ||
        serve_check_delete_options(json_object_get(eviction, "deleteOptions"), &s->refusal) < 0)
        return -1;
    if (s->options.dry_run)
        json_set_at(eviction, "deleteOptions.dryRun", json_pack("[s]", "All"));
    if (evict_pod(s->api, s->user, s->path.ns, s->path.name, eviction, &s->refusal) < 0)
        return -1;
    return serve_success(s);
}

/* A pod is bound once. */
static int check_unbound(struct serving *s)
{
    const json_t *pod = api_get(s->api, s->path.kind, s->path.ns, s->path.name);
    if (!pod)
        return refuse_not_found(&s->refusal, s->path.kind, s->path.name);
    const char *node = json_str_or_empty(pod, "spec.nodeName");
    if (!*node)
        return 0;
    struct kind binding = *s->path.kind;
    binding.plural = "pods/binding";
    CLEANUP_FREE char *why = xasprintf("pod %s is already assigned to node \"%s\"", s->path.name,
                                       node);
    return refuse_conflict(&s->refusal, &binding, s->path.name, why);
}

int serve_binding(struct serving *s)
{
    if (serve_begin_write(s, "CreateOptions") < 0)
        return -1;
    CLEANUP_JSON json_t *binding = action_body(s, "core", "Binding");
    if (!binding || check_unbound(s) < 0)
        return -1;
    char now[CLOCK_TEXT_MAX];
    api_now(s->api, now);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s}]}}", "spec", "nodeName",
                                           json_str_or_empty(binding, "target.name"), "status",
                                           "conditions", "type", "PodScheduled", "status", "True",
                                           "lastTransitionTime", now);
    struct write w = serve_write(s, API_UPDATE);
    if (write_patch(s->api, &w, PATCH_STRATEGIC, patch, NULL, &s->refusal) < 0)
        return -1;
    return serve_success(s);
}
