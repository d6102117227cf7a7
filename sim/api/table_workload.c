/* The tables of DaemonSets, Deployments, ReplicaSets and Jobs. */
#include "sim/api/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/text.h"
#include "kube/condition.h"
#include "kube/object.h"

#define CONTAINERS "spec.template.spec.containers"
#define COLUMNS_OF_TEMPLATE                                                                        \
    { "Containers", "string", 1, cell_containers, CONTAINERS, NULL },                              \
        { "Images", "string", 1, cell_images, CONTAINERS, NULL },                                  \
    {                                                                                              \
        "Selector", "string", 1, cell_selector, "spec.selector", NULL                              \
    }

static const struct column daemonset_columns[] = {
    COLUMN_NAME,
    { "Desired", "integer", 0, cell_integer, "status.desiredNumberScheduled", NULL },
    { "Current", "integer", 0, cell_integer, "status.currentNumberScheduled", NULL },
    { "Ready", "integer", 0, cell_integer, "status.numberReady", NULL },
    { "Up-to-date", "integer", 0, cell_integer, "status.updatedNumberScheduled", NULL },
    { "Available", "integer", 0, cell_integer, "status.numberAvailable", NULL },
    { "Node Selector", "string", 0, cell_labels, "spec.template.spec.nodeSelector", NULL },
    COLUMN_AGE,
    COLUMNS_OF_TEMPLATE,
};
const struct columns columns_of_daemonset = COLUMNS(daemonset_columns);

static json_t *cell_replicas_ready(const struct cell *c)
{
    int64_t ready = json_int(c->object, "status.readyReplicas", 0),
            wanted = json_int(c->object, "spec.replicas", 0);
    return json_textf("%" PRId64 "/%" PRId64, ready, wanted);
}

static const struct column deployment_columns[] = {
    COLUMN_NAME,
    { "Ready", "string", 0, cell_replicas_ready, "", NULL },
    { "Up-to-date", "string", 0, cell_integer, "status.updatedReplicas", NULL },
    { "Available", "string", 0, cell_integer, "status.availableReplicas", NULL },
    COLUMN_AGE,
    COLUMNS_OF_TEMPLATE,
};
const struct columns columns_of_deployment = COLUMNS(deployment_columns);

static const struct column replicaset_columns[] = {
    COLUMN_NAME,
    { "Desired", "integer", 0, cell_integer, "spec.replicas", NULL },
    { "Current", "integer", 0, cell_integer, "status.replicas", NULL },
    { "Ready", "integer", 0, cell_integer, "status.readyReplicas", NULL },
    COLUMN_AGE,
    COLUMNS_OF_TEMPLATE,
};
const struct columns columns_of_replicaset = COLUMNS(replicaset_columns);

/* ---- jobs */

/* The states of a job by precedence: conditions, and the deletion among them. */
static const struct job_state {
    const char *condition; /* NULL: the job is deleted */
    const char *status;
} job_states[] = {
    { "Complete", "Complete" },
    { "Failed", "Failed" },
    { NULL, "Terminating" },
    { "Suspended", "Suspended" },
    { "FailureTarget", "FailureTarget" },
    { "SuccessCriteriaMet", "SuccessCriteriaMet" },
};

static json_t *cell_job_status(const struct cell *c)
{
    const json_t *conditions = json_at(c->object, "status.conditions");
    for (size_t i = 0; i < ARRAY_LEN(job_states); i++) {
        const char *condition = job_states[i].condition;
        if (condition ? str_eq(condition_status(conditions, condition), "True")
                      : object_is_deleting(c->object))
            return json_text(job_states[i].status);
    }
    return json_text("Running");
}

static json_t *cell_completions(const struct cell *c)
{
    int64_t succeeded = json_int(c->object, "status.succeeded", 0),
            parallelism = json_int(c->object, "spec.parallelism", 0);
    if (json_at(c->object, "spec.completions"))
        return json_textf("%" PRId64 "/%" PRId64, succeeded,
                          json_int(c->object, "spec.completions", 0));
    if (parallelism > 1)
        return json_textf("%" PRId64 "/1 of %" PRId64, succeeded, parallelism);
    return json_textf("%" PRId64 "/1", succeeded);
}

static json_t *cell_job_duration(const struct cell *c)
{
    const char *start = json_str(c->object, "status.startTime"),
               *end = json_str(c->object, "status.completionTime");
    if (!start)
        return json_text("");
    CLEANUP_FREE char *duration = table_age(start, end ? clock_parse_rfc3339(end) : c->now_us);
    return json_text(duration);
}

static const struct column job_columns[] = {
    COLUMN_NAME,
    { "Status", "string", 0, cell_job_status, "", NULL },
    { "Completions", "string", 0, cell_completions, "", NULL },
    { "Duration", "string", 0, cell_job_duration, "", NULL },
    COLUMN_AGE,
    COLUMNS_OF_TEMPLATE,
};
const struct columns columns_of_job = COLUMNS(job_columns);

/* ---- revisions */

/* "daemonset.apps/driver". */
static json_t *cell_controller(const struct cell *c)
{
    const json_t *owner = object_controller(c->object);
    if (!owner)
        return json_text(c->empty);
    const char *version = json_str_or_empty(owner, "apiVersion");
    const char *slash = strchr(version, '/');
    CLEANUP_FREE char *kind = text_lower(json_str_or_empty(owner, "kind"));
    int group = slash ? (int) (slash - version) : 0;
    return json_textf("%s%s%.*s/%s", kind, slash ? "." : "", group, version,
                      json_str_or_empty(owner, "name"));
}

static const struct column revision_columns[] = {
    COLUMN_NAME,
    { "Controller", "string", 0, cell_controller, "", "<none>" },
    { "Revision", "string", 0, cell_integer, "revision", NULL },
    COLUMN_AGE,
};
const struct columns columns_of_revision = COLUMNS(revision_columns);
