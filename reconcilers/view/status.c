#include "reconcilers/view/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/view/advice.h"
#include "reconcilers/view/health.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/xid.h"

/* Groups of stuck nodes shown, one less below the lines about faults; names per group; more nodes
 * than a cluster has. */
enum { GROUPS = 3, NAMES = 3, NODES_MAX = 1 << 20 };

/* ---- parts */

static json_t *policy_part(const json_t *policy, int64_t now_us)
{
    const json_t *conditions = json_at(policy, "status.conditions");
    const json_t *ready = condition_find(conditions, "Ready"),
                 *stalled = condition_find(conditions, "Stalled");
    const char *status = condition_status(conditions, "Ready");
    json_t *part = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:b, s:b}", "name", object_name(policy), "ready",
        *status ? status : "Unknown", "reason", json_str_or_empty(ready, "reason"), "message",
        json_str_or_empty(ready, "message"), "seconds",
        (json_int_t) term_seconds_since(json_str(ready, "lastTransitionTime"), now_us), "seen",
        json_int(policy, "status.observedGeneration", -1) == object_generation(policy), "deleting",
        object_is_deleting(policy));
    if (str_eq(json_str(stalled, "status"), "True"))
        json_object_set_new(part, "stalled", json_text(json_str_or_empty(stalled, "message")));
    if (json_array_size(json_at(policy, "status.problems")))
        json_object_set(part, "problems", json_at(policy, "status.problems"));
    return part;
}

/* Counts one more node with this version. */
static void count_version(json_t *versions, const char *name, const char *version)
{
    if (!version || !*version)
        return;
    JSON_EACH (row, versions)
        if (str_eq(json_str(row, "name"), name) && str_eq(json_str(row, "version"), version)) {
            json_object_set_new(row, "nodes", json_integer(json_int(row, "nodes", 0) + 1));
            return;
        }
    json_array_append_new(
        versions, json_pack("{s:s, s:s, s:i}", "name", name, "version", version, "nodes", 1));
}

/* Adds to each driver the pools in which Ostler rolls back to it. */
static void mark_known_good(json_t *versions, const json_t *policy)
{
    JSON_EACH (row, versions) {
        json_t *pools = json_array();
        JSON_EACH (pool, json_at(policy, "status.pools"))
            if (str_eq(json_str(pool, "knownGoodDriver"), json_str(row, "version")))
                json_array_append_new(pools, json_text(json_str_or_empty(pool, "name")));
        if (json_array_size(pools))
            json_object_set(row, "knownGood", pools);
        json_decref(pools);
    }
}

/* Versions of the nodes: drivers first. */
static json_t *versions_part(const json_t *policy, const json_t *reports)
{
    json_t *versions = json_array();
    JSON_EACH (report, reports)
        count_version(versions, "driver", json_str(report, "status.driver.version"));
    mark_known_good(versions, policy);
    JSON_EACH (report, reports)
        count_version(versions, "toolkit", json_str(report, "status.stack.version"));
    return versions;
}

/* GPUs in all reports, and in those of Ready nodes. */
static json_t *gpus_part(const json_t *reports)
{
    json_int_t present = 0, ready = 0;
    JSON_EACH (report, reports) {
        json_int_t gpus = json_int(report, "status.gpus", 0);
        gpus = gpus < 0 || gpus > 4096 ? 0 : gpus;
        present += gpus;
        ready += str_eq(json_str(report, "status.state"), "Ready") ? gpus : 0;
    }
    return json_pack("{s:I, s:I}", "ready", ready, "present", present);
}

/* Nodes by state as the GpuNodes have it. The policy's status counts no Unmanaged ones. */
static json_t *reported_states(const json_t *reports, bool unmanaged)
{
    json_t *counts = json_object();
    JSON_EACH (item, reports) {
        const char *state = snapshot_node_state(item);
        if (str_eq(state, "Unmanaged") == unmanaged)
            json_object_set_new(
                counts, state,
                json_integer(json_integer_value(json_object_get(counts, state)) + 1));
    }
    return counts;
}

/* When Ostler last wrote the counts of the policy's status; NULL: not known. Owned by the
 * caller. */
static char *counted_at(const json_t *policy)
{
    CLEANUP_FREE char *setter = snapshot_setter(policy, "f:status f:nodes");
    const char *at = setter ? strstr(setter, " at ") : NULL;
    return at ? xstrdup(at + strlen(" at ")) : NULL;
}

static json_int_t sum_of(json_t *counts)
{
    json_int_t sum = 0;
    JSON_EACH_MEMBER (state, count, counts) {
        json_int_t n = json_integer_value(count);
        sum += n < NODES_MAX ? n : NODES_MAX;
    }
    return sum;
}

/* Counts nodes by state, as the policy's status does, from which the other counts come. A GpuNode
 * reports a state only after it has lasted a while. If the GpuNodes differ, "reported" has their
 * counts. Those that are Unmanaged differ if there are too few nodes for them: their agents have
 * reported, and Ostler has taken the nodes since. */
static void add_states(json_t *part, const json_t *policy, const json_t *reports)
{
    CLEANUP_JSON json_t *counts = json_object(), *unmanaged = reported_states(reports, true),
                        *reported = reported_states(reports, false);
    JSON_EACH (item, json_at(policy, "status.nodes.states"))
        if (json_int(item, "count", 0) > 0)
            json_object_set_new(counts, json_str_or_empty(item, "state"),
                                json_integer(json_int(item, "count", 0)));
    bool counted = json_object_size(counts);
    if (counted && sum_of(counts) + sum_of(unmanaged) > json_int(policy, "status.nodes.total", 0)) {
        json_object_update(reported, unmanaged);
        json_object_clear(unmanaged);
    }
    bool differs = counted && json_object_size(reported) && !json_equal(counts, reported);
    CLEANUP_FREE char *at = differs ? counted_at(policy) : NULL;
    if (differs)
        json_object_set(part, "reported", reported);
    if (at)
        json_object_set_new(part, "asOf", json_text(at));
    json_object_update(counted ? counts : reported, unmanaged);
    json_object_set(part, "states", counted ? counts : reported);
}

static json_t *nodes_part(const json_t *policy, const json_t *reports)
{
    static const char *const members[] = { "total", "gpu",      "managed",
                                           "ready", "upToDate", "outdated" };
    json_t *part = json_object();
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        CLEANUP_FREE char *path = xasprintf("status.nodes.%s", members[i]);
        json_object_set_new(part, members[i], json_integer(json_int(policy, path, 0)));
    }
    add_states(part, policy, reports);
    return part;
}

/* Adds the end of the plan. An end in the past means that the plan takes longer. A paused
 * rollout has no end. */
static void add_end(json_t *part, const char *ends, int64_t now_us)
{
    if (!ends || json_is_true(json_object_get(part, "paused")))
        return;
    if (term_seconds_since(ends, now_us) <= 0)
        json_object_set_new(part, "ends", json_text(ends));
    else
        json_object_set_new(part, "late", json_true());
}

static json_t *rollout_part(const json_t *policy, int64_t now_us)
{
    static const char *const members[] = { "pending", "active",  "waiting",
                                           "failed",  "skipped", "done" };
    const json_t *rollout = json_at(policy, "status.rollout");
    json_t *part = json_pack("{s:s, s:s, s:b}", "reason", json_str_or_empty(rollout, "reason"),
                             "message", json_str_or_empty(rollout, "message"), "paused",
                             json_bool(policy, "spec.rollout.paused", false));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_object_set_new(part, members[i], json_integer(json_int(rollout, members[i], 0)));
    if (json_is_object(json_at(rollout, "plan")))
        json_object_set_new(part, "plan",
                            json_pack("{s:s, s:s}", "hash", json_str_or_empty(rollout, "plan.hash"),
                                      "message", json_str_or_empty(rollout, "plan.message")));
    add_end(part, json_str(rollout, "plan.ends"), now_us);
    CLEANUP_FREE char *todo = advice_of_rollout(reason_parse(json_str(rollout, "reason")),
                                                json_str(rollout, "plan.hash"));
    if (todo)
        json_object_set_new(part, "todo", json_text(todo));
    return part;
}

/* ---- stuck nodes */

static json_t *stuck_of(const json_t *report, long long seconds)
{
    const char *name = object_name(report), *state = snapshot_node_state(report);
    const char *reason = json_str_or_empty(report, "status.reason");
    CLEANUP_FREE char *todo = advice_of_node(name, state, advice_reason(reason));
    return json_pack("{s:[s], s:s, s:s, s:s, s:I, s:s}", "nodes", name, "state", state, "reason",
                     reason, "message", json_str_or_empty(report, "status.message"), "seconds",
                     (json_int_t) seconds, "todo", todo);
}

/* Whether a user must act on a node that is in its state for so long. */
static bool is_stuck(const json_t *report, const json_t *policy, long long seconds)
{
    const char *state = snapshot_node_state(report);
    const json_t *status = json_object_get(report, "status");
    return advice_is_stuck(state, reason_parse(json_str(status, "reason")), seconds) ||
           (str_eq(state, "Unhealthy") && health_needs_person(status, policy));
}

/* Groups nodes by state and reason; the first node provides the message. */
static json_t *stuck_part(const json_t *reports, const json_t *policy, int64_t now_us)
{
    json_t *groups = json_array();
    JSON_EACH (report, reports) {
        const char *state = snapshot_node_state(report),
                   *reason = json_str_or_empty(report, "status.reason");
        long long seconds = term_seconds_since(json_str(report, "status.since"), now_us);
        if (!is_stuck(report, policy, seconds))
            continue;
        bool known = false;
        JSON_EACH (group, groups) {
            if (!str_eq(json_str(group, "state"), state) ||
                !str_eq(json_str(group, "reason"), reason))
                continue;
            known = true;
            json_array_append_new(json_object_get(group, "nodes"), json_text(object_name(report)));
            if (seconds > json_int(group, "seconds", 0))
                json_object_set_new(group, "seconds", json_integer(seconds));
        }
        if (!known)
            json_array_append_new(groups, stuck_of(report, seconds));
    }
    return groups;
}

/* Failed nodes first; then larger groups. */
static int rank(const json_t *group)
{
    static const char *const order[] = { "Failed", "Unhealthy", "Unsupported", "Lost" };
    int at = 0;
    while ((size_t) at < ARRAY_LEN(order) && !str_eq(order[at], json_str(group, "state")))
        at++;
    return at;
}

static int by_weight(const json_t *a, const json_t *b)
{
    size_t n = json_array_size(json_object_get(a, "nodes"));
    size_t m = json_array_size(json_object_get(b, "nodes"));
    return rank(a) != rank(b) ? rank(a) - rank(b) : (n < m) - (n > m);
}

json_t *status_view(const json_t *snapshot, int64_t now_us)
{
    json_t *policy = json_object_get(snapshot, "policy"),
           *reports = json_object_get(snapshot, "reports");
    bool rolls = json_at(policy, "status.rollout");
    return json_pack("{s:o*, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*, s:o*, s:o, s:O*}", "policy",
                     policy ? policy_part(policy, now_us) : NULL, "ostler",
                     snapshot_ostler(snapshot, now_us), "versions", versions_part(policy, reports),
                     "nodes", nodes_part(policy, reports), "gpus",
                     reports ? gpus_part(reports) : NULL, "health", health_levels(reports),
                     "faults", health_sums(reports), "brake", health_brake(policy, now_us),
                     "rollout", rolls ? rollout_part(policy, now_us) : NULL, "stuck",
                     snapshot_sorted(stuck_part(reports, policy, now_us), by_weight), "missing",
                     json_object_get(snapshot, "missing"));
}

/* ---- text output */

enum { INDENT = 11 };

static void head(struct buf *out, const struct paint *p, const char *word)
{
    paint_add(out, p, BOLD, word);
    buf_printf(out, "%*s", INDENT - (int) strlen(word), "");
}

static void add_cut(struct buf *out, const struct paint *p, int used, enum colour colour,
                    const char *text)
{
    size_t room = p->width > used + 20 ? (size_t) (p->width - used) : 20;
    CLEANUP_FREE char *cut = term_cut(text, p->whole ? SIZE_MAX : room);
    paint_add(out, p, colour, cut);
    buf_str(out, "\n");
}

static void print_policy(const json_t *policy, const struct paint *p, struct buf *out)
{
    const char *ready = json_str_or_empty(policy, "ready"),
               *word = json_str_or_empty(policy, "reason");
    enum reason reason = reason_parse(word);
    bool good = str_eq(ready, "True");
    CLEANUP_FREE char *span = term_span(json_int(policy, "seconds", 0));
    CLEANUP_FREE char *why = *word ? xasprintf(" (%s) for %s", word, span) : xstrdup("");
    CLEANUP_FREE char *line = xasprintf(
        "%s: %s%s%s%s", json_str_or_empty(policy, "name"),
        good                     ? "ready"
        : str_eq(ready, "False") ? "not ready"
                                 : "not known to be ready",
        why, json_bool(policy, "deleting", false) ? "; it is being deleted" : "",
        json_bool(policy, "seen", false) ? "" : "; Ostler has not seen its last change yet");
    head(out, p, "Policy");
    bool fine = good && (reason == REASON_ALL_NODES_READY || reason == REASON_NO_GPU_NODES);
    add_cut(out, p, INDENT, fine ? GREEN : str_eq(ready, "False") ? RED : YELLOW, line);
    if (!fine)
        term_wrap(out, p, INDENT, 2, json_str_or_empty(policy, "message"));
}

/* The text for each state of snapshot_ostler(). */
static const struct ostler_word {
    const char *state, *word;
    enum colour colour;
} ostler_words[] = {
    { "Alive", "alive", GREEN },        { "Silent", "NO LEADER", RED },
    { "Released", "NO LEADER", RED },   { "Absent", "NO LEASE", RED },
    { "Unknown", "not known", YELLOW },
};

static void print_ostler(const json_t *ostler, const struct paint *p, struct buf *out)
{
    const struct ostler_word *w = ostler_words;
    while (!str_eq(w->state, json_str(ostler, "state")) &&
           w < &ostler_words[ARRAY_LEN(ostler_words) - 1])
        w++;
    bool alive = w == ostler_words;
    head(out, p, "Ostler");
    paint_add(out, p, w->colour, w->word);
    buf_str(out, alive ? ": " : "\n");
    if (alive)
        add_cut(out, p, INDENT + (int) strlen("alive: "), PLAIN,
                json_str_or_empty(ostler, "message"));
    else
        term_wrap(out, p, INDENT, 2, json_str_or_empty(ostler, "message"));
}

/* " (known good)"; with the pools, if they differ. Owned by the caller. */
static char *known_good_text(const json_t *versions, const json_t *row)
{
    struct buf text = BUF_INIT(1 << 14);
    size_t marked = 0;
    const json_t *pools = json_object_get(row, "knownGood");
    JSON_EACH (other, versions)
        marked += json_object_get(other, "knownGood") != NULL;
    JSON_EACH_AT (i, pool, pools)
        if (marked > 1)
            buf_printf(&text, "%s%.63s", i ? ", " : " in ", json_string_value(pool));
    CLEANUP_FREE char *in = buf_take(&text);
    return pools ? xasprintf(" (known good%s)", in) : xstrdup("");
}

static void print_versions(const json_t *versions, const struct paint *p, struct buf *out)
{
    struct buf line = BUF_INIT(1 << 16);
    JSON_EACH_AT (i, v, versions)
        if (i < 8) {
            CLEANUP_FREE char *good = known_good_text(versions, v);
            buf_printf(&line, "%s%s %.100s on %lld%s", i ? ", " : "", json_str_or_empty(v, "name"),
                       json_str_or_empty(v, "version"), snapshot_count(v, "nodes"), good);
        }
    CLEANUP_FREE char *text = buf_take(&line);
    if (!*text)
        return;
    head(out, p, "Versions");
    add_cut(out, p, INDENT, PLAIN, text);
}

/* "Ready 4, Failed 1". Owned by the caller. */
static char *states_text(const json_t *states)
{
    struct buf line = BUF_INIT(1 << 16);
    JSON_EACH_MEMBER (state, count, states)
        if (line.len < 1000)
            buf_printf(&line, "%s%.40s %lld", line.len ? ", " : "", state,
                       (long long) json_integer_value(count));
    return buf_take(&line);
}

/* When the counts are of, if the GpuNodes say otherwise. */
static void print_reported(const json_t *status, const struct paint *p, struct buf *out)
{
    const json_t *nodes = json_object_get(status, "nodes");
    const char *at = json_str(nodes, "asOf");
    CLEANUP_FREE char *states = states_text(json_object_get(nodes, "reported"));
    CLEANUP_FREE char *line = xasprintf(
        "as of %s; the GpuNodes say: %s; %lld of %lld GPUs ready", at ? at : "the last count",
        states, snapshot_count(status, "gpus.ready"), snapshot_count(status, "gpus.present"));
    buf_printf(out, "%*s", INDENT, "");
    add_cut(out, p, INDENT, PLAIN, line);
}

static void status_print_nodes(const json_t *status, const struct paint *p, struct buf *out)
{
    const json_t *nodes = json_object_get(status, "nodes"),
                 *reported = json_object_get(nodes, "reported");
    CLEANUP_FREE char *gpus = !json_object_get(status, "gpus") || reported
                                  ? xstrdup("")
                                  : xasprintf(", %lld of %lld GPUs ready",
                                              snapshot_count(status, "gpus.ready"),
                                              snapshot_count(status, "gpus.present"));
    CLEANUP_FREE char *sums = xasprintf(
        "%lld of %lld ready, %lld on their target%s; %lld with GPUs, %lld in the "
        "cluster",
        snapshot_count(nodes, "ready"), snapshot_count(nodes, "managed"),
        snapshot_count(nodes, "upToDate"), gpus, snapshot_count(nodes, "gpu"),
        snapshot_count(nodes, "total"));
    CLEANUP_FREE char *states = states_text(json_object_get(nodes, "states"));
    /* Without a policy, no sums exist: the remaining reports have only states. */
    bool counted = json_object_get(status, "policy");
    if (counted || *states)
        head(out, p, "Nodes");
    if (counted)
        add_cut(out, p, INDENT, PLAIN, sums);
    buf_printf(out, "%*s", counted && *states ? INDENT : 0, "");
    if (*states)
        add_cut(out, p, INDENT, PLAIN, states);
    if (reported)
        print_reported(status, p, out);
}

/* "GPU faults: 2 closed, 1 needs a person". */
static void print_health(const json_t *sums, const struct paint *p, struct buf *out)
{
    struct buf line = BUF_INIT(1 << 16);
    bool bad = false;
    JSON_EACH (sum, sums) {
        bad = bad || json_bool(sum, "bad", false);
        buf_printf(&line, "%s%lld %s", line.len ? ", " : "", snapshot_count(sum, "nodes"),
                   json_str_or_empty(sum, "text"));
    }
    CLEANUP_FREE char *text = buf_take(&line);
    CLEANUP_FREE char *whole = xasprintf("GPU faults: %s; kubectl gpu nodes -o wide", text);
    if (!*text)
        return;
    head(out, p, "Health");
    add_cut(out, p, INDENT, bad ? RED : YELLOW, whole);
}

static void print_brake(const json_t *brake, const struct paint *p, struct buf *out)
{
    const char *todo = json_str(brake, "todo");
    int64_t seconds = json_int(brake, "seconds", -1);
    CLEANUP_FREE char *span = term_span(seconds);
    CLEANUP_FREE char *line = xasprintf("on%s%s: %s", seconds < 0 ? "" : " for ",
                                        seconds < 0 ? "" : span,
                                        json_str_or_empty(brake, "message"));
    if (!brake)
        return;
    head(out, p, "Brake");
    add_cut(out, p, INDENT, RED, line);
    if (todo) {
        buf_printf(out, "%*s→ ", INDENT, "");
        add_cut(out, p, INDENT + 2, PLAIN, todo);
    }
}

/* An up-to-date node may still fail: its own state shows that. */
static const char *text_of_none(const json_t *nodes)
{
    return json_int(nodes, "ready", 0) == json_int(nodes, "managed", 0)
               ? "every node runs what the policy says"
               : "no node is changing its revision";
}

static void print_rollout(const json_t *r, const json_t *nodes, const struct paint *p,
                          struct buf *out)
{
    long long done = snapshot_count(r, "done"), active = snapshot_count(r, "active");
    long long waiting = snapshot_count(r, "waiting"), failed = snapshot_count(r, "failed");
    long long skipped = snapshot_count(r, "skipped"), pending = snapshot_count(r, "pending");
    long long all = done + active + waiting + failed + skipped + pending;
    const char *reason = json_str_or_empty(r, "reason"), *todo = json_str(r, "todo"),
               *ends = json_str(r, "ends");
    bool over = reason_parse(reason) == REASON_UP_TO_DATE;
    const char *end = ends                          ? "; ends about "
                      : json_bool(r, "late", false) ? "; it takes longer than planned"
                                                    : "";
    CLEANUP_FREE char *counts =
        over ? xstrdup(text_of_none(nodes))
             : xasprintf(
                   "%lld of %lld nodes done, %lld under way, %lld waiting for jobs, %lld failed, "
                   "%lld held back, %lld waiting for their turn%s%s",
                   done, all, active, waiting, failed, skipped, pending, end, str_or_empty(ends));
    CLEANUP_FREE char *line = xasprintf("%s%s%s: %s", reason,
                                        json_bool(r, "paused", false) ? ", paused" : "",
                                        *reason ? "" : "no rollout", counts);
    head(out, p, "Rollout");
    add_cut(out, p, INDENT, failed ? RED : over ? GREEN : YELLOW, line);
    if (over)
        return;
    term_wrap(out, p, INDENT, 1, json_str_or_empty(r, "message"));
    if (todo) {
        buf_printf(out, "%*s→ ", INDENT, "");
        add_cut(out, p, INDENT + 2, PLAIN, todo);
    }
}

static void print_group(const json_t *group, const struct paint *p, struct buf *out)
{
    const json_t *nodes = json_object_get(group, "nodes");
    size_t n = json_array_size(nodes);
    struct buf names = BUF_INIT(1 << 16);
    for (size_t i = 0; i < n && i < NAMES; i++)
        buf_printf(&names, "%s%.253s", i ? ", " : "",
                   str_or_empty(json_string_value(json_array_get(nodes, i))));
    if (n > NAMES)
        buf_printf(&names, " and %zu more", n - NAMES);
    CLEANUP_FREE char *said = buf_take(&names);
    int64_t seconds = json_int(group, "seconds", -1);
    const char *message = json_str_or_empty(group, "message");
    CLEANUP_FREE char *span = term_span(seconds);
    CLEANUP_FREE char *line = xasprintf("%s: %s, %s%s%s", said, json_str_or_empty(group, "state"),
                                        json_str_or_empty(group, "reason"),
                                        seconds < 0 ? "" : " for ", seconds < 0 ? "" : span);
    buf_str(out, "  ");
    add_cut(out, p, 2, rank(group) < 3 ? RED : YELLOW, line);
    buf_str(out, *message ? "    " : "");
    if (*message)
        add_cut(out, p, 4, PLAIN, message);
    buf_str(out, "    → ");
    add_cut(out, p, 6, PLAIN, json_str_or_empty(group, "todo"));
}

void status_print(const json_t *status, const struct paint *p, struct buf *out)
{
    const json_t *stuck = json_object_get(status, "stuck"),
                 *faults = json_object_get(status, "faults"),
                 *brake = json_object_get(status, "brake");
    size_t n = json_array_size(stuck), shown = faults || brake ? GROUPS - 1 : GROUPS;
    if (json_object_get(status, "policy"))
        print_policy(json_object_get(status, "policy"), p, out);
    else
        buf_str(out, "Policy     there is no GpuClusterPolicy: Ostler manages no nodes\n");
    print_ostler(json_object_get(status, "ostler"), p, out);
    print_versions(json_object_get(status, "versions"), p, out);
    status_print_nodes(status, p, out);
    print_health(faults, p, out);
    print_brake(brake, p, out);
    if (json_object_get(status, "rollout"))
        print_rollout(json_object_get(status, "rollout"), json_object_get(status, "nodes"), p, out);
    if (n) {
        paint_add(out, p, BOLD, "Stuck");
        buf_str(out, "\n");
    }
    for (size_t i = 0; i < n && i < shown; i++)
        print_group(json_array_get(stuck, i), p, out);
    if (n > shown)
        buf_printf(out, "  and %zu more: kubectl gpu nodes\n", n - shown);
    snapshot_print_missing(json_object_get(status, "missing"), p, out);
}
