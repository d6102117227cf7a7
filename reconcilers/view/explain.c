#include "reconcilers/view/explain.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/view/health.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/reason.h"

/* Limits of the text output; JSON has everything. */
enum { STORY_LINES = 40, PODS_SHOWN = 20 };

/* ---- pods */

/* Why the first waiting container does not run, except PodInitializing; NULL: none. */
static const json_t *first_trouble(const json_t *pod)
{
    static const char *const lists[] = { "status.initContainerStatuses",
                                         "status.containerStatuses" };
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        JSON_EACH (status, json_at(pod, lists[k])) {
            const json_t *waiting = json_at(status, "state.waiting");
            if (waiting && reason_parse(json_str(waiting, "reason")) != REASON_POD_INITIALIZING)
                return waiting;
        }
    }
    return NULL;
}

/* Records of the operator do not keep everything: null in place of a list means that its contents
 * are not known, and NULL is returned. */
static json_t *readiness_of(const json_t *pod)
{
    const json_t *conditions = json_at(pod, "status.conditions");
    return json_is_null(conditions) ? NULL : json_boolean(condition_is_true(pod, "Ready"));
}

static json_t *restarts_of(const json_t *pod)
{
    const json_t *statuses = json_at(pod, "status.containerStatuses");
    json_int_t sum = 0;
    JSON_EACH (status, statuses)
        sum += json_int(status, "restartCount", 0);
    return json_is_null(statuses) ? NULL : json_integer(sum);
}

/* A pod's state: {name, operand, state, ready, restarts, message, gpus, since}. New reference. */
static json_t *explain_pod(const json_t *pod)
{
    const json_t *trouble = first_trouble(pod), *unscheduled = condition_of(pod, "PodScheduled");
    const char *state = object_is_deleting(pod) ? "Terminating"
                                                : json_str_or_empty(pod, "status.phase");
    const char *message = json_str_or_empty(trouble, "message");
    if (trouble && json_str(trouble, "reason"))
        state = json_str(trouble, "reason");
    if (str_eq(object_label(pod, LABEL_TASK), "pull") && str_eq(state, "Failed")) {
        state = "Done";
        message = "the node has the images of its next revision; its containers are expected not "
                  "to run: the pod only pulls images";
    }
    if (str_eq(json_str(unscheduled, "status"), "False"))
        message = json_str_or_empty(unscheduled, "message");
    return json_pack("{s:o, s:s, s:s, s:o*, s:o*, s:s, s:I, s:s}", "name",
                     json_textf("%s/%s", object_namespace(pod), object_name(pod)), "operand",
                     str_or_empty(object_label(pod, LABEL_COMPONENT)), "state", state, "ready",
                     readiness_of(pod), "restarts", restarts_of(pod), "message", message, "gpus",
                     (json_int_t) pod_gpus(pod), "since",
                     json_str_or_empty(pod, "metadata.creationTimestamp"));
}

static bool explain_is_ours(const json_t *pod)
{
    return str_eq(object_label(pod, LABEL_MANAGED_BY), MANAGED_BY);
}

/* Ostler's pods, or those that use a GPU. */
static json_t *pods_part(const json_t *pods, bool ours)
{
    json_t *part = json_array();
    JSON_EACH (pod, pods)
        if (explain_is_ours(pod) == ours && (ours || pod_gpus(pod) > 0))
            json_array_append_new(part, explain_pod(pod));
    return part;
}

/* ---- view */

json_t *explain_view(const json_t *snapshot, const char *name, int64_t now_us)
{
    static const char *const members[] = { "state",      "reason",    "message",     "since",
                                           "gpus",       "product",   "driver",      "stack",
                                           "waitingFor", "lastWords", "timeToReady", "health" };
    const json_t *report = json_object_get(snapshot, "reports"),
                 *status = json_object_get(report, "status");
    const json_t *node = json_object_get(snapshot, "nodes");
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(now_us, now);
    json_t *all = json_pack("{s:o, s:s}", "node", json_text(name), "asOf", now);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (json_object_get(status, members[i]))
            json_object_set(all, members[i], json_object_get(status, members[i]));
    if (report)
        json_object_set_new(all, "state", json_text(snapshot_node_state(report)));
    json_t *ostler = snapshot_ostler(snapshot, now_us), *pods = json_object_get(snapshot, "pods");
    json_t *rest = json_pack(
        "{s:s*, s:s*, s:I, s:o*, s:o*, s:o, s:o, s:o, s:o, s:o, s:O*}", "loaded",
        json_str(status, "inventory.module.version"), "holders",
        json_str(status, "inventory.heldBy"), "seconds",
        (json_int_t) term_seconds_since(json_str(status, "since"), now_us), "held",
        node ? json_boolean(snapshot_node_is_held(node)) : NULL, "cordoned",
        node ? json_boolean(json_bool(node, "spec.unschedulable", false)) : NULL, "story",
        explain_story(snapshot, name), "operandPods", pods_part(pods, true), "gpuPods",
        pods_part(pods, false), "ostler", ostler, "next", explain_next(snapshot, ostler, now_us),
        "missing", json_object_get(snapshot, "missing"));
    json_object_update_new(all, rest);
    return all;
}

/* ---- text output */

static void title(struct buf *out, const struct paint *p, const char *text)
{
    buf_str(out, "\n");
    paint_add(out, p, BOLD, text);
    buf_str(out, "\n");
}

/* Whether the node's target revision of that tier differs. */
static bool changes(const json_t *all, const char *tier)
{
    const json_t *t = json_object_get(all, tier);
    return !str_eq(json_str_or_empty(t, "revision"), json_str_or_empty(t, "target"));
}

/* "; driver 580.178.04 (d1, to become d2)" */
static void add_tier(struct buf *line, const json_t *all, const char *tier)
{
    const json_t *t = json_object_get(all, tier);
    const char *version = json_str(t, "version"), *revision = json_str(t, "revision");
    if (!version && !revision)
        return;
    buf_printf(line, "; %s%s%.80s", tier, version ? " " : "", str_or_empty(version));
    bool becomes = changes(all, tier);
    if (!revision && !becomes) /* the host's driver */
        return;
    buf_printf(line, " (%.80s", str_or_empty(revision));
    if (becomes)
        buf_printf(line, "%sto become %.80s", revision ? ", " : "", json_str_or_empty(t, "target"));
    buf_printf(line, ")");
}

/* The node's hardware, current versions and targets. Owned by the caller. */
static char *facts_of(const json_t *all)
{
    const char *loaded = json_str(all, "loaded"), *product = json_str(all, "product"),
               *holders = json_str(all, "holders");
    long long gpus = snapshot_count(all, "gpus");
    struct buf line = BUF_INIT(1 << 16);
    buf_printf(&line, "%lld GPU%s%s%.200s", gpus, gpus == 1 ? "" : "s", product ? " " : "",
               str_or_empty(product));
    add_tier(&line, all, "driver");
    if (loaded)
        buf_printf(&line, ", %.80s loaded", loaded);
    add_tier(&line, all, "stack");
    if (holders)
        buf_printf(&line, "; held open by %.2000s", holders);
    return buf_take(&line);
}

static void print_head(const json_t *all, const struct paint *p, struct buf *out)
{
    const char *state = json_str(all, "state"), *reason = json_str(all, "reason"),
               *node = json_str_or_empty(all, "node");
    CLEANUP_FREE char *span = term_span(json_int(all, "seconds", 0));
    CLEANUP_FREE char *line = reason  ? xasprintf("%s: %s (%s) for %s", node, str_or_empty(state),
                                                  reason, span)
                              : state ? xasprintf("%s: %s", node, state)
                                      : xasprintf("%s: Ostler has no report about it", node);
    CLEANUP_FREE char *clean = terminal_clean(line);
    paint_add(out, p,
              str_eq(state, "Ready")                                  ? GREEN
              : str_eq(state, "Failed") || str_eq(state, "Unhealthy") ? RED
                                                                      : YELLOW,
              clean);
    buf_str(out, "\n");
    term_wrap(out, p, 2, 0, json_str_or_empty(all, "message"));
    if (!reason)
        return;
    CLEANUP_FREE char *facts = facts_of(all);
    term_wrap(out, p, 2, 0, facts);
}

/* Repairs that Ostler has tried, in one line: "Reset at 2026-…Z, Reboot at 2026-…Z". */
static void print_repairs(const json_t *repairs, const struct paint *p, struct buf *out)
{
    struct buf line = BUF_INIT(1 << 16);
    JSON_EACH (repair, repairs)
        buf_printf(&line, "%s%.40s at %.40s",
                   line.len ? ", " : "repairs: ", json_str_or_empty(repair, "kind"),
                   json_str_or_empty(repair, "at"));
    CLEANUP_FREE char *text = buf_take(&line);
    term_wrap(out, p, 2, 0, text);
}

/* What is wrong with the node's GPUs, and what Ostler does about it; the state of the node may be
 * Ready all the same. */
static void print_health(const json_t *health, int64_t now_us, const struct paint *p,
                         struct buf *out)
{
    const char *level = json_str(health, "level"), *handled = health_handled(health);
    if (!level)
        return;
    int64_t lasts_s = term_seconds_since(json_str(health, "since"), now_us);
    CLEANUP_FREE char *span = term_span(lasts_s);
    CLEANUP_FREE char *line = xasprintf("%s%s%s (%s)%s%s: %s", level, handled ? ", " : "",
                                        str_or_empty(handled), json_str_or_empty(health, "reason"),
                                        lasts_s < 0 ? "" : " for ", lasts_s < 0 ? "" : span,
                                        json_str_or_empty(health, "message"));
    title(out, p, "Health of its GPUs");
    term_wrap(out, p, 2, 0, line);
    print_repairs(json_object_get(health, "repairs"), p, out);
}

static void print_story(const json_t *story, const struct paint *p, struct buf *out)
{
    size_t n = json_array_size(story), first = n > STORY_LINES && !p->wide ? n - STORY_LINES : 0;
    struct grid g = { .headless = true };
    title(out, p, "History");
    if (first)
        buf_printf(out, "  … %zu earlier ones; -o wide shows them\n", first);
    for (size_t i = first; i < n; i++) {
        const json_t *t = json_array_get(story, i);
        CLEANUP_FREE char *time = xasprintf("  %.19sZ", json_str_or_empty(t, "time"));
        grid_row(&g, json_bool(t, "warning", false) ? YELLOW : PLAIN,
                 (const char *const[]){ time, json_str_or_empty(t, "what"),
                                        json_str_or_empty(t, "text") },
                 3);
    }
    grid_print(&g, p, out);
    grid_clear(&g);
}

/* "ready, 1 restart; message". Owned by the caller. */
static char *said_of(const json_t *pod)
{
    const char *message = json_str_or_empty(pod, "message");
    const char *ready = json_bool(pod, "ready", false) ? "ready" : "";
    long long restarts = snapshot_count(pod, "restarts");
    CLEANUP_FREE char *counted = json_object_get(pod, "restarts")
                                     ? xasprintf("%s%lld restart%s", *ready ? ", " : "", restarts,
                                                 restarts == 1 ? "" : "s")
                                     : xstrdup("");
    return xasprintf("%s%s%s%s", ready, counted, *message && (*ready || *counted) ? "; " : "",
                     message);
}

static void print_pods(const json_t *pods, const char *head, int64_t now_us, const struct paint *p,
                       struct buf *out)
{
    struct grid g = { .headless = true };
    size_t n = json_array_size(pods);
    if (n == 0)
        return;
    title(out, p, head);
    JSON_EACH_AT (i, pod, pods) {
        CLEANUP_FREE char *name = xasprintf("  %s", json_str_or_empty(pod, "name"));
        CLEANUP_FREE char *ago = term_ago(json_str(pod, "since"), now_us);
        CLEANUP_FREE char *said = said_of(pod);
        if (i < PODS_SHOWN || p->wide)
            grid_row(&g, json_bool(pod, "ready", false) ? GREEN : YELLOW,
                     (const char *const[]){ name, json_str_or_empty(pod, "state"), ago, said }, 4);
    }
    grid_print(&g, p, out);
    grid_clear(&g);
    if (n > PODS_SHOWN && !p->wide)
        buf_printf(out, "  and %zu more; -o wide shows them\n", n - PODS_SHOWN);
}

static void print_waits(const json_t *waits, const struct paint *p, struct buf *out)
{
    if (json_array_size(waits))
        title(out, p, "It waits for");
    JSON_EACH (w, waits) {
        const char *ns = json_str_or_empty(w, "namespace");
        CLEANUP_FREE char *line = xasprintf("- %s %s%s%s (%s): %s", json_str_or_empty(w, "kind"),
                                            ns, *ns ? "/" : "", json_str_or_empty(w, "name"),
                                            json_str_or_empty(w, "reason"),
                                            json_str_or_empty(w, "message"));
        term_wrap(out, p, 2, 0, line);
    }
}

static void print_last_words(const json_t *words, const struct paint *p, struct buf *out)
{
    const char *text = json_str(words, "text");
    if (!text)
        return;
    CLEANUP_FREE char *head = xasprintf("End of the log of %s in %s",
                                        json_str_or_empty(words, "container"),
                                        json_str_or_empty(words, "pod"));
    CLEANUP_FREE char *clean = terminal_clean(head);
    title(out, p, clean);
    while (*text) {
        const char *end = strchrnul(text, '\n');
        CLEANUP_FREE char *line = xstrndup(text, (size_t) (end - text));
        term_wrap(out, p, 2, 0, line);
        text = *end ? end + 1 : end;
    }
}

/* Prints the next steps. The text of one with a time has it; "in 4m" is added. */
static void print_next(const json_t *next, int64_t now_us, const struct paint *p, struct buf *out)
{
    title(out, p, "What happens next");
    JSON_EACH (n, next) {
        const char *at = json_str(n, "at");
        int64_t in_s = at ? (clock_parse_rfc3339(at) - now_us) / 1000000 : 0;
        CLEANUP_FREE char *span = term_span(in_s);
        CLEANUP_FREE char *when = !at        ? xstrdup("")
                                  : in_s > 0 ? xasprintf(" (in %s)", span)
                                             : xstrdup(" (due now)");
        CLEANUP_FREE char *line = xasprintf("- %s%s", json_str_or_empty(n, "text"), when);
        term_wrap(out, p, 2, 0, line);
    }
}

void explain_print(const json_t *all, const struct paint *p, struct buf *out)
{
    int64_t now_us = clock_parse_rfc3339(json_str_or_empty(all, "asOf"));
    print_head(all, p, out);
    print_health(json_object_get(all, "health"), now_us, p, out);
    print_story(json_object_get(all, "story"), p, out);
    print_pods(json_object_get(all, "operandPods"), "Pods of Ostler on it", now_us, p, out);
    print_pods(json_object_get(all, "gpuPods"), "Pods with GPUs on it", now_us, p, out);
    print_last_words(json_object_get(all, "lastWords"), p, out);
    print_waits(json_object_get(all, "waitingFor"), p, out);
    print_next(json_object_get(all, "next"), now_us, p, out);
    snapshot_print_missing(json_object_get(all, "missing"), p, out);
}
