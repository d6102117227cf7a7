#include "sim/api/filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"

/* Fields that objects are selected by: kind ("" = any), the name in the query, the path in the
 * stored object, and what an absent one counts as. */
static const struct field_row {
    const char *kind;
    const char *group;
    const char *label;
    const char *path;
    const char *absent;
} rows[] = {
    { "", "", "metadata.name", "metadata.name", "" },
    { "", "", "metadata.namespace", "metadata.namespace", "" },
    { "Pod", "", "spec.nodeName", "spec.nodeName", "" },
    { "Pod", "", "spec.restartPolicy", "spec.restartPolicy", "" },
    { "Pod", "", "spec.schedulerName", "spec.schedulerName", "" },
    { "Pod", "", "spec.serviceAccountName", "spec.serviceAccountName", "" },
    { "Pod", "", "spec.hostNetwork", "spec.hostNetwork", "false" },
    { "Pod", "", "status.phase", "status.phase", "" },
    { "Pod", "", "status.podIP", "status.podIP", "" },
    { "Pod", "", "status.nominatedNodeName", "status.nominatedNodeName", "" },
    { "Node", "", "spec.unschedulable", "spec.unschedulable", "false" },
    { "Namespace", "", "status.phase", "status.phase", "" },
    { "Secret", "", "type", "type", "" },
    { "Job", "batch", "status.successful", "status.succeeded", "0" },
    { "ResourceSlice", "resource.k8s.io", "spec.driver", "spec.driver", "" },
    { "ResourceSlice", "resource.k8s.io", "spec.nodeName", "spec.nodeName", "" },
    { "Event", "", "involvedObject.kind", "involvedObject.kind", "" },
    { "Event", "", "involvedObject.namespace", "involvedObject.namespace", "" },
    { "Event", "", "involvedObject.name", "involvedObject.name", "" },
    { "Event", "", "involvedObject.uid", "involvedObject.uid", "" },
    { "Event", "", "involvedObject.apiVersion", "involvedObject.apiVersion", "" },
    { "Event", "", "involvedObject.resourceVersion", "involvedObject.resourceVersion", "" },
    { "Event", "", "involvedObject.fieldPath", "involvedObject.fieldPath", "" },
    { "Event", "", "reason", "reason", "" },
    { "Event", "", "reportingComponent", "reportingComponent", "" },
    { "Event", "", "source", "source.component", "" },
    { "Event", "", "type", "type", "" },
    { "Event", "events.k8s.io", "regarding.kind", "involvedObject.kind", "" },
    { "Event", "events.k8s.io", "regarding.namespace", "involvedObject.namespace", "" },
    { "Event", "events.k8s.io", "regarding.name", "involvedObject.name", "" },
    { "Event", "events.k8s.io", "regarding.uid", "involvedObject.uid", "" },
    { "Event", "events.k8s.io", "regarding.apiVersion", "involvedObject.apiVersion", "" },
    { "Event", "events.k8s.io", "regarding.resourceVersion", "involvedObject.resourceVersion", "" },
    { "Event", "events.k8s.io", "regarding.fieldPath", "involvedObject.fieldPath", "" },
    { "Event", "events.k8s.io", "reason", "reason", "" },
    { "Event", "events.k8s.io", "reportingController", "reportingComponent", "" },
    { "Event", "events.k8s.io", "type", "type", "" },
};

struct filter_field {
    const struct field_row *row;
    char *value;
    bool negated;
};

static bool is_row_of(const struct field_row *row, const struct kind *k)
{
    return str_eq(row->kind, k->kind) && str_eq(row->group, k->group);
}

static int refuse_field(const struct kind *k, const char *label, struct refusal *r)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (is_row_of(&rows[i], k) || k->flags & KIND_CUSTOM)
            return refuse(r, 400, "field label not supported: %s", label);
    return refuse(
        r, 400,
        "\"%s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        label);
}

static const struct field_row *filter_row_of(const struct kind *k, const char *label)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].label, label) && (!*rows[i].kind || is_row_of(&rows[i], k)))
            return &rows[i];
    return NULL;
}

/* One "field=value", "field==value" or "field!=value". */
static int add_field(struct filter *f, const struct kind *k, const char *whole, const char *term,
                     struct refusal *r)
{
    const char *sign = strpbrk(term, "!=");
    if (!sign || (*sign == '!' && sign[1] != '='))
        return refuse(r, 400, "invalid selector: '%s'; can't understand '%s'", whole, term);
    CLEANUP_FREE char *label = xstrndup(term, (size_t) (sign - term));
    const struct field_row *row = filter_row_of(k, label);
    if (!row)
        return refuse_field(k, label, r);
    bool negated = *sign == '!';
    const char *value = sign + (negated || sign[1] == '=' ? 2 : 1);
    f->fields = xreallocarray(f->fields, f->field_count + 1, sizeof *f->fields);
    f->fields[f->field_count++] = (struct filter_field){ .row = row,
                                                         .value = xstrdup(value),
                                                         .negated = negated };
    return 0;
}

static int add_fields(struct filter *f, const struct kind *k, const char *text, struct refusal *r)
{
    CLEANUP_FREE char *terms = xstrdup(text);
    char *rest = terms;
    for (char *term; (term = strsep(&rest, ","));)
        if (*term && add_field(f, k, text, term, r) < 0)
            return -1;
    return 0;
}

int filter_compile(const struct kind *k, const char *ns, const char *labels, const char *fields,
                   struct filter *ret, struct refusal *r)
{
    struct filter f = { .ns = ns && *ns ? xstrdup(ns) : NULL };
    if (label_text_compile(str_or_empty(labels), &f.labels, r) < 0 ||
        add_fields(&f, k, str_or_empty(fields), r) < 0) {
        filter_clear(&f);
        return -1;
    }
    *ret = f;
    return 0;
}

void filter_clear(struct filter *f)
{
    for (size_t i = 0; i < f->field_count; i++)
        free(f->fields[i].value);
    free(f->fields);
    selector_clear(&f->labels);
    free(f->ns);
    *f = (struct filter){ 0 };
}

static bool field_matches(const struct filter_field *f, const json_t *object)
{
    const json_t *value = json_at(object, f->row->path);
    char number[24];
    const char *text = f->row->absent;
    if (json_is_string(value)) {
        text = json_string_value(value);
    } else if (json_is_boolean(value)) {
        text = json_is_true(value) ? "true" : "false";
    } else if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%" PRId64, (int64_t) json_integer_value(value));
        text = number;
    }
    return str_eq(text, f->value) != f->negated;
}

bool filter_matches(const struct filter *f, const json_t *object)
{
    if (!object || (f->ns && !str_eq(f->ns, object_namespace(object))))
        return false;
    for (size_t i = 0; i < f->field_count; i++)
        if (!field_matches(&f->fields[i], object))
            return false;
    return selector_is_empty(&f->labels) ||
           selector_matches(&f->labels, selector_lookup_json, json_at(object, "metadata.labels"));
}

bool filter_selects(const struct filter *f)
{
    return f->field_count > 0 || !selector_is_empty(&f->labels);
}
