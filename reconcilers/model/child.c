#include "reconcilers/model/child.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/request.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/names.h"

/* An annotation that holds JSON; NULL: absent or invalid. */
static json_t *said_json(const json_t *object, const char *key)
{
    const char *text = object_annotation(object, key);
    return text ? json_parse(text, strlen(text), NULL) : NULL;
}

/* The inputs of the object: a record's data, or a follower's annotation. */
static json_t *inputs_of(enum resource_id resource, const json_t *object)
{
    if (resource == RESOURCE_DAEMONSET)
        return said_json(object, ANNOTATION_INPUTS);
    if (resource == RESOURCE_REVISION || resource == RESOURCE_CONFIGMAP)
        return json_deep_copy(json_object_get(object, "data"));
    return NULL;
}

static void take_agents(struct child *c, const json_t *object)
{
    int32_t up = (int32_t) json_int(object, "status.numberReady", 0);
    c->made_s = object_time_s(object, "metadata.creationTimestamp");
    c->silent = !c->counted ? -1 : c->desired > up ? c->desired - up : 0;
}

struct child *child_project(enum resource_id resource, const json_t *object)
{
    struct child *c = record_new(sizeof *c, object);
    c->resource = resource;
    c->generation = object_generation(object);
    c->intent = xstrdup_or_null(object_annotation(object, ANNOTATION_INTENT));
    c->policy_uid = xstrdup_or_null(object_label(object, LABEL_POLICY_UID));
    c->revision = xstrdup_or_null(object_label(object, LABEL_REVISION));
    c->kept_managers = object_managers_without_foreign_spec(object, FIELD_MANAGER);
    c->deleting = object_is_deleting(object);
    c->inputs = inputs_of(resource, object);
    c->known_good = said_json(object, ANNOTATION_KNOWN_GOOD);
    if (resource == RESOURCE_REVISION)
        c->annotations = json_deep_copy(json_at(object, "metadata.annotations"));
    c->desired = (int32_t) json_int(object, "status.desiredNumberScheduled", 0);
    c->updated = (int32_t) json_int(object, "status.updatedNumberScheduled", 0);
    c->counted = json_int(object, "status.observedGeneration", 0) == c->generation;
    if (resource == RESOURCE_DAEMONSET &&
        str_eq(object_label(object, LABEL_COMPONENT), operand_name(OPERAND_AGENT)))
        take_agents(c, object);
    return c;
}

/* json_equal() finds nothing equal to NULL, not even NULL. */
static bool same_tree(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);
}

bool child_same(const struct child *a, const struct child *b)
{
    return a->generation == b->generation && str_eq(a->intent, b->intent) &&
           str_eq(a->policy_uid, b->policy_uid) && str_eq(a->revision, b->revision) &&
           !a->kept_managers == !b->kept_managers && a->deleting == b->deleting &&
           a->desired == b->desired && a->updated == b->updated && a->counted == b->counted &&
           a->silent == b->silent && a->made_s == b->made_s &&
           same_tree(a->annotations, b->annotations) &&
           /* A kind without generation shows a change only in its resourceVersion. */
           (a->generation != 0 || a->head.rv == b->head.rv);
}

void child_free(struct child *c)
{
    free(c->intent);
    free(c->policy_uid);
    free(c->revision);
    json_decref(c->kept_managers);
    json_decref(c->inputs);
    json_decref(c->known_good);
    json_decref(c->annotations);
    record_free(c);
}

bool child_is_ours(const struct child *c)
{
    return c->policy_uid != NULL;
}

const char *child_time(const struct child *record, const char *annotation)
{
    const char *text = json_key(record->annotations, annotation);
    return clock_parse_written(text) < 0 ? NULL : text;
}

const char *child_failure(const struct child *record, const char *annotation)
{
    const char *text = json_key(record->annotations, annotation),
               *space = text ? strchr(text, ' ') : NULL;
    CLEANUP_FREE char *time = space ? xstrndup(text, (size_t) (space - text)) : NULL;
    return time && clock_parse_rfc3339(time) >= 0 ? space + 1 : NULL;
}

bool child_has_failed(const struct child *record)
{
    JSON_EACH_MEMBER (key, value, record->annotations)
        if (str_has_prefix(key, ANNOTATION_FAILED) && child_failure(record, key))
            return true;
    return false;
}

const char *child_name(const struct child *c)
{
    return record_name(c->head.key);
}
