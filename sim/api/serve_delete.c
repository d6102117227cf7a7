/* DELETE requests, of one object and of collections. */
#include "sim/api/serve.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/body.h"
#include "sim/api/event_view.h"
#include "sim/api/state.h"
#include "sim/api/typed.h"

/* What a deletion asks for, from its body or, without one, from the query. */
struct deletion {
    json_t *body; /* owned; NULL: none */
    struct delete_options options;
    bool dry_run;
};

static void deletion_clear(struct deletion *d)
{
    json_decref(d->body);
}

static const struct policy {
    const char *name;
    enum propagation propagation;
} policies[] = {
    { "Background", PROPAGATE_BACKGROUND },
    { "Foreground", PROPAGATE_FOREGROUND },
    { "Orphan", PROPAGATE_ORPHAN },
};

static void settle_propagation(struct deletion *d, const char *policy, const json_t *orphan,
                               struct refusal *r)
{
    if (orphan)
        d->options.propagation = json_is_true(orphan) ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
    if (!policy || !*policy)
        return;
    for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
        if (!str_eq(policies[i].name, policy))
            continue;
        d->options.propagation = policies[i].propagation;
        if (orphan)
            refuse_cause(r, "FieldValueInvalid", "propagationPolicy",
                         "Invalid value: \"%s\": orphanDependents and deletionPropagation cannot "
                         "be both set",
                         policy);
        return;
    }
    refuse_cause(r, "FieldValueNotSupported", "propagationPolicy",
                 "Unsupported value: \"%s\": supported values: \"Foreground\", \"Background\", "
                 "\"Orphan\", \"nil\"",
                 policy);
}

static void settle_dry_run(struct deletion *d, const char *dry_run, struct refusal *r)
{
    d->dry_run = str_eq(dry_run, "All");
    if (dry_run && !d->dry_run)
        refuse_cause(r, "FieldValueNotSupported", "dryRun",
                     "Unsupported value: [\"%s\"]: supported values: \"All\"", dry_run);
}

static int finish_options(struct refusal *r)
{
    const struct kind options = { .group = "meta.k8s.io", .kind = "DeleteOptions" };
    return refuse_finish_invalid(r, &options, "");
}

/* Reads the options of its body. 0, or -1 and a refusal. */
static int read_options(struct deletion *d, struct refusal *r)
{
    CLEANUP(typed_problems_clear) struct typed_problems problems = { 0 };
    json_decref(typed_read(type_delete_options, NULL, d->body, &problems));
    if (problems.wrong_type)
        return refuse(r, 400, "%s", problems.wrong_type);
    const json_t *grace = json_object_get(d->body, "gracePeriodSeconds");
    /* A negative period means the shortest. */
    int64_t grace_s = json_is_integer(grace) ? json_integer_value(grace) : -1;
    d->options.grace_s = json_is_integer(grace) && grace_s < 0 ? 1 : grace_s;
    d->options.uid = json_str(d->body, "preconditions.uid");
    d->options.rv = json_str(d->body, "preconditions.resourceVersion");
    const json_t *orphan = json_object_get(d->body, "orphanDependents");
    settle_propagation(d, json_str(d->body, "propagationPolicy"),
                       json_is_boolean(orphan) ? orphan : NULL, r);
    JSON_EACH_AT (i, dry_run, json_object_get(d->body, "dryRun"))
        settle_dry_run(d, json_string_value(dry_run), r);
    return finish_options(r);
}

int serve_check_delete_options(const json_t *options, struct refusal *r)
{
    struct deletion d = { .body = (json_t *) options };
    return options ? read_options(&d, r) : 0;
}

static int read_body(struct serving *s, struct deletion *d)
{
    d->body = body_object(s->call, NULL, false, &s->refusal);
    if (!d->body)
        return -1;
    const char *kind = json_str(d->body, "kind");
    if (kind && !str_eq(kind, "DeleteOptions"))
        return refuse(&s->refusal, 400, "no kind \"%s\" is registered for version \"%s\"", kind,
                      json_str_or_empty(d->body, "apiVersion"));
    return read_options(d, &s->refusal);
}

static int read_query(struct serving *s, struct deletion *d)
{
    const struct path *p = &s->path;
    if (path_number(p, "gracePeriodSeconds", -1, &d->options.grace_s, &s->refusal) < 0)
        return -1;
    CLEANUP_JSON json_t *orphan = path_parameter(p, "orphanDependents")
                                      ? json_boolean(path_flag(p, "orphanDependents"))
                                      : NULL;
    settle_propagation(d, path_parameter(p, "propagationPolicy"), orphan, &s->refusal);
    settle_dry_run(d, path_parameter(p, "dryRun"), &s->refusal);
    return finish_options(&s->refusal);
}

static int read_deletion(struct serving *s, struct deletion *d)
{
    *d = (struct deletion){ .options.grace_s = -1 };
    return s->call->body_len > 0 ? read_body(s, d) : read_query(s, d);
}

static struct write write_of(const struct serving *s, const struct deletion *d, const char *ns,
                             const char *name)
{
    struct write w = write_by(s->user, API_DELETE, s->path.kind, ns, name);
    w.dry_run = d->dry_run;
    return w;
}

/* The Status of a deletion, for kinds that do not answer with the object. */
static json_t *success(const struct kind *k, const json_t *object)
{
    return json_pack("{s:s, s:s, s:{}, s:s, s:{s:s, s:s*, s:s, s:s}}", "kind", "Status",
                     "apiVersion", "v1", "metadata", "status", "Success", "details", "name",
                     object_name(object), "group", *k->group ? k->group : NULL, "kind", k->plural,
                     "uid", object_uid(object));
}

int serve_delete(struct serving *s)
{
    CLEANUP(deletion_clear) struct deletion d;
    if (read_deletion(s, &d) < 0)
        return -1;
    struct write w = write_of(s, &d, s->path.ns, s->path.name);
    CLEANUP_JSON json_t *last = NULL;
    bool gone;
    if (write_delete(s->api, &w, &d.options, &last, &gone, &s->refusal) < 0)
        return -1;
    if (gone && !(s->path.kind->flags & KIND_RETURNS_DELETED))
        return serve_json(s, 200, success(s->path.kind, last));
    return serve_object(s, 200, json_incref(last));
}

int serve_delete_collection(struct serving *s)
{
    struct list_options o;
    CLEANUP_FILTER struct filter filter = { 0 };
    CLEANUP(deletion_clear) struct deletion d;
    if (read_deletion(s, &d) < 0 || serve_filter(s, &o, &filter) < 0)
        return -1;
    CLEANUP_PAGE struct page page = { 0 };
    if (page_read(s->api, s->path.kind, &o, &filter, &page, &s->refusal) < 0)
        return -1;
    JSON_EACH_AT (i, object, page.objects) {
        struct write w = write_of(s, &d, object_namespace(object), object_name(object));
        CLEANUP_REFUSAL struct refusal r = { 0 };
        /* An object that is already gone is no error. */
        if (write_delete(s->api, &w, &d.options, NULL, NULL, &r) < 0 && r.code != 404) {
            s->refusal = r;
            r = (struct refusal){ 0 };
            return -1;
        }
    }
    return serve_page(s, &page);
}
