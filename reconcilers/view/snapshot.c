#include "reconcilers/view/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/lease_step.h"
#include "kube/object.h"
#include "kube/record.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/reason.h"

/* ---- Ostler itself */

/* After this time without renewal a leader no longer writes; includes a small clock difference. */
enum { SILENT_S = LEASE_DURATION_MS / 1000 + 15 };

static void snapshot_describe(json_t *ostler, const char *state, json_t *message_steal)
{
    json_object_set_new(ostler, "state", json_string(state));
    json_object_set_new(ostler, "message", message_steal);
}

json_t *snapshot_ostler(const json_t *snapshot, int64_t now_us)
{
    json_t *ostler = json_object();
    const json_t *lease = json_object_get(snapshot, "lease");
    const char *missing = json_str(snapshot, "missing.lease"),
               *renewed = json_str(lease, "spec.renewTime");
    const char *holder = json_str_or_empty(lease, "spec.holderIdentity");
    int64_t seconds = term_seconds_since(renewed, now_us);
    if (!lease && missing) {
        snapshot_describe(ostler, "Unknown", json_textf("its Lease cannot be read: %s", missing));
        return ostler;
    }
    if (!lease) {
        snapshot_describe(
            ostler, "Absent",
            json_text("no Lease of Ostler was found: it is not installed, has never led, or runs "
                      "in another "
                      "namespace (-n) or without leader election; see kubectl get pods -A -l "
                      "app.kubernetes.io/name=ostler"));
        return ostler;
    }
    CLEANUP_FREE char *ago = term_span(seconds);
    if (renewed)
        json_object_set_new(ostler, "renewed", json_text(renewed));
    json_object_set_new(ostler, "seconds", json_integer(seconds));
    if (!*holder) {
        snapshot_describe(
            ostler, "Released",
            json_textf(
                "no replica leads since the last leader stopped %s ago: nothing is decided; see "
                "kubectl -n %s get pods,events",
                ago, object_namespace(lease)));
        return ostler;
    }
    json_object_set_new(ostler, "holder", json_text(holder));
    bool silent = seconds < 0 || seconds > SILENT_S;
    snapshot_describe(
        ostler, silent ? "Silent" : "Alive",
        silent ? json_textf("%s has not renewed its Lease for %s: nothing is decided; see "
                            "kubectl -n %s get pods,events",
                            holder, ago, object_namespace(lease))
               : json_textf("%s renewed its Lease %s ago", holder, ago));
    return ostler;
}

/* ---- other writers */

/* Labels, annotations and field managers of tools that manage objects. */
static const struct keeper {
    const char *label, *annotation, *manager;
    const char *name;
    const char *becomes;
} keepers[] = {
    { NULL, "argocd.argoproj.io/tracking-id", "argocd-controller", "Argo CD",
      "restores the state in Git with self-heal" },
    { "argocd.argoproj.io/instance", NULL, "argocd-application-controller", "Argo CD",
      "restores the state in Git with self-heal" },
    { "kustomize.toolkit.fluxcd.io/name", NULL, "kustomize-controller", "Flux",
      "restores the state in Git with its next run" },
    { "helm.toolkit.fluxcd.io/name", NULL, "helm-controller", "Flux",
      "may restore the state of the release with its next run" },
    { NULL, "meta.helm.sh/release-name", "helm", "Helm",
      "restores the state of the chart with its next upgrade" },
};

static bool is_manager(const json_t *object, const char *name)
{
    JSON_EACH (entry, json_at(object, "metadata.managedFields"))
        if (str_eq(json_str(entry, "manager"), name))
            return true;
    return false;
}

char *snapshot_keeper(const json_t *object)
{
    for (size_t i = 0; i < ARRAY_LEN(keepers); i++) {
        const struct keeper *k = &keepers[i];
        const char *said = k->label ? object_label(object, k->label)
                                    : object_annotation(object, k->annotation);
        if (!said && !is_manager(object, k->manager))
            continue;
        CLEANUP_FREE char *shown = term_cut(said, 80);
        return xasprintf("%s%s%s%s manages this object, and %s: change it there, too", k->name,
                         said ? " (" : "", shown, said ? ")" : "", k->becomes);
    }
    return NULL;
}

static bool has_path(const json_t *fields, const char *path)
{
    CLEANUP_FREE char *copy = xstrdup(path);
    char *rest = copy;
    const char *key;
    while (fields && (key = strsep(&rest, " ")))
        fields = json_object_get(fields, key);
    return fields != NULL;
}

char *snapshot_setter(const json_t *object, const char *path)
{
    const json_t *latest = NULL;
    JSON_EACH (entry, json_at(object, "metadata.managedFields"))
        if (has_path(json_object_get(entry, "fieldsV1"), path) &&
            (!latest ||
             strcmp(json_str_or_empty(entry, "time"), json_str_or_empty(latest, "time")) > 0))
            latest = entry;
    if (!latest)
        return NULL;
    CLEANUP_FREE char *manager = term_cut(json_str_or_empty(latest, "manager"), 60);
    CLEANUP_FREE char *time = term_cut(json_str_or_empty(latest, "time"), 30);
    return xasprintf("%s at %s", manager, time);
}

/* ---- lists */

json_t *snapshot_by_key(const json_t *list)
{
    json_t *by = json_object();
    JSON_EACH (item, list) {
        CLEANUP_FREE char *key = record_key(item);
        json_object_set(by, key, item);
    }
    return by;
}

struct place {
    json_t *item;
    size_t before;
    int (*compare)(const json_t *a, const json_t *b);
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int rc = x->compare(x->item, y->item);
    return rc ? rc : (x->before > y->before) - (x->before < y->before);
}

json_t *snapshot_sorted(json_t *list_steal, int (*compare)(const json_t *a, const json_t *b))
{
    size_t n = json_array_size(list_steal);
    CLEANUP_FREE struct place *places = xcalloc(n, sizeof *places);
    json_t *ret = json_array();
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){ json_array_get(list_steal, i), i, compare };
    qsort(places, n, sizeof *places, by_place);
    for (size_t i = 0; i < n; i++)
        json_array_append(ret, places[i].item);
    json_decref(list_steal);
    return ret;
}

long long snapshot_count(const json_t *object, const char *path)
{
    return json_int(object, path, 0);
}

/* ---- names */

const json_t *snapshot_find(const json_t *list, const char *name)
{
    return json_find(list, "metadata.name", name);
}

const char *snapshot_node_state(const json_t *report)
{
    const char *state = json_str(report, "status.state");
    return state && *state ? state : "Unmanaged";
}

bool seen_is_outdated(const json_t *status)
{
    for (enum tier t = 0; t < TIERS; t++) {
        const json_t *tier = json_object_get(status, tiers[t].name);
        if (!str_eq(json_str(tier, "revision"), json_str(tier, "target")))
            return true;
    }
    return false;
}

/* Whether the policy's status lists the report's target of a tier. A host's driver has no
 * revision. */
static bool is_still_wanted(const json_t *policy, const json_t *report, enum tier tier)
{
    const json_t *of = json_object_get(json_object_get(report, "status"), tiers[tier].name);
    const char *target = json_str(of, "target");
    if (!target)
        return tier == TIER_DRIVER;
    CLEANUP_FREE char *revision = xasprintf("%s-%s", tiers[tier].name, target);
    JSON_EACH (pool, json_at(policy, "status.pools"))
        if (json_find(json_object_get(pool, "targets"), "revision", revision))
            return true;
    return false;
}

bool snapshot_report_is_stale(const json_t *report, const json_t *policy)
{
    int64_t generation = object_generation(policy);
    if (!report || !policy || json_int(report, "status.policyGeneration", 0) >= generation)
        return false;
    if (json_int(policy, "status.observedGeneration", 0) != generation)
        return true;
    bool old = false;
    for (enum tier t = 0; t < TIERS; t++)
        old |= !is_still_wanted(policy, report, t);
    return old && reason_parse(json_str(policy, "status.rollout.reason")) != REASON_UP_TO_DATE;
}

bool snapshot_node_is_held(const json_t *node)
{
    const char *hold = object_label(node, LABEL_HOLD);
    return hold && !str_eq(hold, "false");
}

enum held_way snapshot_held_way(const json_t *node, const struct claim *c)
{
    static const enum held_way ways[CLAIM_PHASE_COUNT] = {
        [CLAIM_WAITING] = HELD_STAYS,      [CLAIM_DRAINING] = HELD_GOES_ON,
        [CLAIM_UNLOADING] = HELD_GOES_ON,  [CLAIM_RESETTING] = HELD_GOES_ON,
        [CLAIM_REBOOTING] = HELD_GOES_ON,  [CLAIM_INSTALLING] = HELD_GOES_ON,
        [CLAIM_VALIDATING] = HELD_GOES_ON, [CLAIM_FAILED] = HELD_FAILED,
    };
    if (!claim_closes(c))
        return HELD_IN_SERVICE;
    return claim_is_as_it_was(c, assignment_of_node(node)) ? HELD_BACK : ways[c->phase];
}

enum { NAME_MAX_COMPARED = 253 };

/* Edit distance: letters to change, insert or delete. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_COMPARED + 1], n = strnlen(a, NAME_MAX_COMPARED),
                                       m = strnlen(b, NAME_MAX_COMPARED);
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[m];
}

/* A name that contains the typed one is similar, too: users type the first part of a long name. */
static size_t unlikeness(const char *there, const char *typed)
{
    return *typed && strstr(there, typed) ? 1 : distance(there, typed);
}

json_t *snapshot_similar_names(const json_t *names, const char *name, size_t max)
{
    json_t *similar = json_array();
    size_t most = strlen(name) / 3 + 2;
    for (size_t away = 0; away <= most && json_array_size(similar) < max; away++) {
        JSON_EACH (there, names)
            if (json_array_size(similar) < max &&
                unlikeness(json_string_value(there), name) == away)
                json_array_append(similar, there);
    }
    return similar;
}

/* ---- missing parts */

void snapshot_print_missing(const json_t *missing, const struct paint *p, struct buf *out)
{
    JSON_EACH_MEMBER (part, why, missing) {
        CLEANUP_FREE char *line = xasprintf("not shown, since %s",
                                            str_or_empty(json_string_value(why)));
        CLEANUP_FREE char *clean = terminal_clean(line);
        paint_add(out, p, DIM, clean);
        buf_str(out, "\n");
    }
}

bool snapshot_is_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= 253 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n;
}
