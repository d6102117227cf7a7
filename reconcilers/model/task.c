#include "reconcilers/model/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vendor.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"

/* Values of the label ostler.dev/task. */
static const char *const kind_names[TASK_COUNT] = {
    [TASK_PROOF] = "proof",
    [TASK_PULL] = "pull",
    [TASK_RESET] = "reset",
    [TASK_REBOOT] = "reboot",
};

const char *task_kind_name(enum task_kind kind)
{
    return kind_names[kind];
}

/* A pod with a controller is not a task: Ostler creates tasks without one. */
enum task_kind task_kind_of(const json_t *object)
{
    const char *name = object_label(object, LABEL_TASK);
    if (!name || object_controller(object) ||
        !str_eq(object_label(object, LABEL_MANAGED_BY), MANAGED_BY))
        return TASK_NONE;
    for (int i = 0; i < TASK_COUNT; i++)
        if (str_eq(name, kind_names[i]))
            return (enum task_kind) i;
    return TASK_NONE;
}

void task_name(enum task_kind kind, const char *node, char out[static TASK_NAME_MAX])
{
    enum { HASH_LEN = 9 }; /* a dash and eight digits */
    int len = snprintf(out, TASK_NAME_MAX, "ostler-%s-%s", kind_names[kind], node);
    if (len < TASK_NAME_MAX)
        return;
    size_t keep = TASK_NAME_MAX - 1 - HASH_LEN;
    while (out[keep - 1] == '.' || out[keep - 1] == '-')
        keep--; /* neither may end a part of a name */
    snprintf(out + keep, TASK_NAME_MAX - keep, "-%08x",
             (unsigned) (str_hash(node, strlen(node)) & 0xffffffff));
}

const char *task_node(const json_t *object)
{
    const char *bound = json_str(object, "spec.nodeName");
    if (bound && *bound)
        return bound;
    const json_t *terms = json_at(
        object, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms");
    const json_t *field = json_array_get(json_object_get(json_array_get(terms, 0), "matchFields"),
                                         0);
    return str_eq(json_str(field, "key"), "metadata.name")
               ? json_string_value(json_array_get(json_object_get(field, "values"), 0))
               : NULL;
}

/* ---- status */

static bool is_any(enum reason r, const enum reason *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (r == of[i])
            return true;
    return false;
}

bool task_cannot_pull(enum reason reason)
{
    static const enum reason reasons[] = { REASON_ERR_IMAGE_PULL,
                                           REASON_IMAGE_PULL_BACK_OFF,
                                           REASON_ERR_IMAGE_NEVER_PULL,
                                           REASON_INVALID_IMAGE_NAME,
                                           REASON_IMAGE_INSPECT_ERROR,
                                           REASON_REGISTRY_UNAVAILABLE,
                                           REASON_SIGNATURE_VALIDATION_FAILED };
    return is_any(reason, reasons, ARRAY_LEN(reasons));
}

/* Waiting reasons that come after the image is pulled. */
static bool waits_with_image(enum reason reason)
{
    static const enum reason reasons[] = { REASON_CREATE_CONTAINER_ERROR,
                                           REASON_CREATE_CONTAINER_CONFIG_ERROR,
                                           REASON_RUN_CONTAINER_ERROR, REASON_CRASH_LOOP_BACK_OFF };
    return is_any(reason, reasons, ARRAY_LEN(reasons));
}

/* How a container ended, or last ended; NULL: it has not. */
static const json_t *end_of(const json_t *status)
{
    const json_t *end = json_at(status, "state.terminated");
    return end ? end : json_at(status, "lastState.terminated");
}

/* Whether an end may be that of a program: not if the runtime could not start it. A kubelet that
 * ends a pod says the same of a container that it has lost, and of one that it never made; only the
 * first has an id or a start. */
static bool may_end_a_run(const json_t *end, const json_t *status)
{
    enum reason reason = reason_parse(json_str(end, "reason"));
    if (reason == REASON_START_ERROR || reason == REASON_CONTAINER_CANNOT_RUN)
        return false;
    return reason != REASON_CONTAINER_STATUS_UNKNOWN || object_time_s(end, "startedAt") > 0 ||
           *json_str_or_empty(end, "containerID") || *json_str_or_empty(status, "containerID");
}

/* Whether a container's program has run, or may have: in doubt it has. */
static bool may_have_run(const json_t *status)
{
    const json_t *end = json_at(status, "state.terminated");
    return json_at(status, "state.running") || json_at(status, "lastState.terminated") ||
           json_int(status, "restartCount", 0) > 0 || (end && may_end_a_run(end, status));
}

/* A kubelet alternates between a failed pull and the back-off; both get the same text. */
static const char *without_back_off(const char *words)
{
    const char *end = str_has_prefix(words, "Back-off pulling image ") ? strstr(words, "\": ")
                                                                       : NULL;
    return end ? end + 3 : words;
}

static const char *without_reason(const char *words)
{
    static const char reason[] =
        "ErrImagePull: "; /* text of the kubelet, not a reason of a status */
    return str_has_prefix(words, reason) ? words + strlen(reason) : words;
}

/* One line, without bytes that JSON encodes as six. */
static uint32_t task_words_of(struct intern *in, const json_t *waiting)
{
    const char *words = without_reason(without_back_off(json_str_or_empty(waiting, "message")));
    CLEANUP_FREE char *text = str_shortened(*words ? words : json_str_or_empty(waiting, "reason"),
                                            TASK_WORDS_MAX);
    for (char *c = text; *c; c++)
        if ((unsigned char) *c < ' ')
            *c = ' ';
    return intern_add(in, text);
}

static void look_at_image(struct intern *in, struct task *t, const json_t *status)
{
    enum reason reason = reason_parse(json_str(status, "state.waiting.reason"));
    bool begun = json_at(status, "state.running") || end_of(status);
    t->begun |= begun;
    if (*json_str_or_empty(status, "imageID") || waits_with_image(reason))
        t->pulled++;
    if (!task_cannot_pull(reason) || t->why_no_image)
        return;
    t->no_image = intern_add(in, json_str(status, "image"));
    t->why_no_image = task_words_of(in, json_at(status, "state.waiting"));
}

static void look_at_end(struct intern *in, struct task *t, const json_t *end)
{
    int64_t ended_s = object_time_s(end, "finishedAt");
    t->ended_s = ended_s > t->ended_s ? ended_s : t->ended_s;
    int64_t code = json_int(end, "exitCode", 0);
    if (code > INT32_MIN && code < INT32_MAX && code != 0)
        t->exit_code = (int32_t) code;
    const char *message = json_str_or_empty(end, "message");
    if (!*message)
        return;
    CLEANUP_FREE char *kept = xstrndup(message, str_utf8_cut(message, TASK_SAID_MAX));
    intern_drop(in, t->said);
    t->said = intern_add(in, kept);
}

static enum task_state task_state_of(const json_t *object)
{
    const char *phase = json_str_or_empty(object, "status.phase");
    if (str_eq(phase, "Succeeded"))
        return TASK_DONE;
    if (str_eq(phase, "Failed"))
        return TASK_FAILED;
    return str_eq(phase, "Running") ? TASK_RUNNING : TASK_PENDING;
}

static uint32_t device_of(struct intern *in, const json_t *containers)
{
    JSON_EACH (c, containers)
        JSON_EACH_MEMBER (key, value, json_at(c, "resources.limits"))
            if (vendor_of_resource(key))
                return intern_add(in, key);
    return INTERN_NONE;
}

/* Reads an init container: its image is missing, or it failed. */
static void look_at_init(struct intern *in, struct task *t, const json_t *status)
{
    uint16_t pulled = t->pulled;
    bool begun = t->begun;
    look_at_image(in, t, status);
    t->pulled = pulled;
    t->begun = begun;
    if (json_int(end_of(status), "exitCode", 0) != 0)
        look_at_end(in, t, end_of(status));
}

struct task *task_project(struct intern *in, enum task_kind kind, const json_t *object)
{
    struct task *t = xcalloc(1, sizeof *t);
    const json_t *containers = json_at(object, "spec.containers"),
                 *statuses = json_at(object, "status.containerStatuses");
    size_t images = json_array_size(containers);
    t->kind = kind;
    t->state = task_state_of(object);
    t->policy = intern_add(in, object_label(object, LABEL_POLICY_UID));
    t->purpose = intern_add(in, object_label(object, LABEL_REVISION));
    t->resource = device_of(in, containers);
    t->bound = *json_str_or_empty(object, "spec.nodeName") != '\0';
    t->created_s = object_time_s(object, "metadata.creationTimestamp");
    t->started_s = object_time_s(object, "status.startTime");
    t->images = images > UINT16_MAX ? UINT16_MAX : (uint16_t) images;
    JSON_EACH_AT (i, status, statuses) {
        if (i >= UINT16_MAX)
            break;
        look_at_image(in, t, status);
        t->ran |= may_have_run(status);
        if (end_of(status))
            look_at_end(in, t, end_of(status));
    }
    JSON_EACH (status, json_at(object, "status.initContainerStatuses"))
        look_at_init(in, t, status);
    const json_t *scheduled = condition_of(object, "PodScheduled");
    t->unschedulable = str_eq(json_str(scheduled, "status"), "False");
    return t;
}

int64_t task_made_s(const struct task *t, int64_t now_s)
{
    if (!clock_is_ahead(t->created_s, now_s))
        return t->created_s;
    return t->started_s && !clock_is_ahead(t->started_s, now_s) ? t->started_s : now_s;
}

bool task_same(const struct task *a, const struct task *b)
{
    if (!a || !b)
        return a == b;
    /* Both were zeroed before members were set. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): so the padding is zero. */
    return memcmp(a, b, sizeof *a) == 0;
}

void task_free(struct intern *in, struct task *t)
{
    if (!t)
        return;
    intern_drop(in, t->policy);
    intern_drop(in, t->purpose);
    intern_drop(in, t->resource);
    intern_drop(in, t->said);
    intern_drop(in, t->no_image);
    intern_drop(in, t->why_no_image);
    free(t);
}
