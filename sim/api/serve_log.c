/* The log of a container. Containers here are not programs: their log is the termination message in
 * their status. */
#include "sim/api/serve.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* The item for a container in two lists of a pod, one of them of init containers; NULL: none. */
static const json_t *named_in(const json_t *pod, const char *const lists[2], const char *container)
{
    const json_t *first = json_find(json_at(pod, lists[0]), "name", container);
    return first ? first : json_find(json_at(pod, lists[1]), "name", container);
}

static const char *const statuses[2] = { "status.initContainerStatuses",
                                         "status.containerStatuses" };
static const char *const specs[2] = { "spec.initContainers", "spec.containers" };

/* The requested container, or the only one; NULL and 400. */
static const char *chosen(struct serving *s, const json_t *pod)
{
    const char *asked = path_parameter(&s->path, "container");
    const json_t *containers = json_at(pod, "spec.containers");
    bool is_open = !asked && json_array_size(containers) > 1;
    if (!asked)
        asked = json_str_or_empty(json_array_get(containers, 0), "name");
    if (is_open)
        refuse(&s->refusal, 400, "a container name must be specified for pod %s", s->path.name);
    else if (!named_in(pod, specs, asked))
        refuse(&s->refusal, 400, "container %s is not valid for pod %s", asked, s->path.name);
    return s->refusal.code ? NULL : asked;
}

/* The log of the requested run; NULL and 400. */
static const char *words(struct serving *s, const json_t *pod, const char *container)
{
    const json_t *status = named_in(pod, statuses, container),
                 *last = json_at(status, "lastState.terminated");
    if (path_flag(&s->path, "previous")) {
        if (last)
            return json_str_or_empty(last, "message");
        refuse(&s->refusal, 400, "previous terminated container \"%s\" in pod \"%s\" not found",
               container, s->path.name);
        return NULL;
    }
    const json_t *now = json_at(status, "state.terminated");
    if (now || json_at(status, "state.running"))
        return json_str_or_empty(now, "message");
    if (last)
        return json_str_or_empty(last, "message");
    const char *reason = json_str(status, "state.waiting.reason");
    refuse(&s->refusal, 400, "container \"%s\" in pod \"%s\" is waiting to start: %s", container,
           s->path.name, reason ? reason : "ContainerCreating");
    return NULL;
}

int serve_log(struct serving *s)
{
    const json_t *pod = api_get(s->api, s->path.kind, s->path.ns, s->path.name);
    int64_t limit;
    if (!pod)
        return refuse_not_found(&s->refusal, s->path.kind, s->path.name);
    if (path_number(&s->path, "limitBytes", INT64_MAX, &limit, &s->refusal) < 0)
        return -1;
    const char *container = chosen(s, pod), *text = container ? words(s, pod, container) : NULL;
    if (!text)
        return -1;
    size_t len = strlen(text);
    CLEANUP_FREE char *part = xasprintf(
        "%.*s%s", (int) (limit < (int64_t) len ? limit : (int64_t) len), text, len ? "\n" : "");
    return serve_plain(s, 200, part);
}
