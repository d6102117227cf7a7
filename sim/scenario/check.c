#include "sim/scenario/check.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "sim/api/kind.h"
#include "sim/api/validate.h"

enum { TEXT_MAX = 4096 };

static const unsigned needs[] = {
#define X(id, name, needs, ...) [SPEC_##id] = needs,
    SPEC_ACTIONS(X)
#undef X
};

static int check_name_now(const char *path, const char *name, struct err *e)
{
    CLEANUP_REFUSAL struct refusal r = { 0 };
    validate_subdomain(name, SPOT(NULL, "name"), &r);
    if (r.code == 0)
        return 0;
    return err_set(
        e, ERR_INVALID,
        "%s: \"%s\" is not a name: use lowercase letters, digits, '-' and '.', at most 253", path,
        name);
}

/* ---- kinds and manifests */

static bool is_meant(const struct kind *k, const char *text)
{
    size_t n = strlen(text);
    if (strcasecmp(k->plural, text) == 0 || strcasecmp(k->singular, text) == 0)
        return true;
    for (const char *p = k->short_names; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && strncasecmp(p, text, n) == 0)
            return true;
    return false;
}

/* Checks a `kind` as in a path; the error suggests the kind that was probably meant. */
static int check_kind(const char *path, const char *kind, struct err *e)
{
    CLEANUP_BUF struct buf all = BUF_INIT(TEXT_MAX);
    const char *meant = NULL;
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        if (str_eq(k->plural, kind))
            return 0;
        meant = !meant && is_meant(k, kind) ? k->plural : meant;
        buf_printf(&all, "%s%s", i ? ", " : "", k->plural);
    }
    if (meant)
        return err_set(e, ERR_INVALID, "%s: \"%s\" is not a plural kind; did you mean %s?", path,
                       kind, meant);
    return err_set(e, ERR_INVALID, "%s: \"%s\" is not a plural kind; the kinds are %s", path, kind,
                   buf_text(&all));
}

static int check_manifest(const char *path, const json_t *object, struct err *e)
{
    static const char *const keys[] = { "apiVersion", "kind", "metadata.name" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!json_str(object, keys[i]))
            return err_set(e, ERR_INVALID, "%s.%s: is missing", path, keys[i]);
    if (kind_of(json_str(object, "apiVersion"), json_str(object, "kind")))
        return 0;
    return err_set(e, ERR_INVALID, "%s.kind: the simulator has no %s in %s", path,
                   json_str(object, "kind"), json_str(object, "apiVersion"));
}

static int check_objects(const struct spec_world *w, struct err *e)
{
    JSON_EACH_AT (i, object, w->objects) {
        CLEANUP_FREE char *path = xasprintf("objects[%zu]", i);
        if (check_manifest(path, object, e) < 0)
            return -1;
    }
    const struct spec_gitops *g = &w->gitops;
    if (!g->object)
        return 0;
    return check_manifest("gitops.object", g->object, e) < 0
               ? -1
               : check_kind("gitops.kind", g->kind, e);
}

/* ---- nodes */

static int check_taint(const char *path, const json_t *taint, bool effect_needed, struct err *e)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    const char *effect = json_str(taint, "effect");
    if (!json_str(taint, "key"))
        return err_set(e, ERR_INVALID, "%s.key: is missing", path);
    if (!effect && !effect_needed)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(effects); i++)
        if (str_eq(effects[i], effect))
            return 0;
    return err_set(e, ERR_INVALID,
                   "%s.effect: must be one of NoSchedule, PreferNoSchedule, NoExecute", path);
}

static int check_shapes(const json_t *root, struct err *e)
{
    JSON_EACH_AT (i, shape, json_object_get(root, "shapes")) {
        JSON_EACH_AT (k, taint, json_object_get(shape, "taints")) {
            CLEANUP_FREE char *path = xasprintf("shapes[%zu].taints[%zu]", i, k);
            if (check_taint(path, taint, true, e) < 0)
                return -1;
        }
    }
    return 0;
}

/* Checks the rows of `nodes`, and adds their names to the map. */
static int check_nodes(const struct spec_world *w, const json_t *root, struct map *names,
                       struct err *e)
{
    size_t n = 0;
    JSON_EACH_AT (i, row, json_object_get(root, "nodes")) {
        CLEANUP_FREE char *path = xasprintf("nodes[%zu].name", i);
        int64_t count = json_int(row, "count", 0);
        for (int64_t k = 0; k < count || k == 0; k++) {
            const char *name = w->nodes[n++].name;
            if (check_name_now(path, name, e) < 0)
                return -1;
            if (map_get(names, name))
                return err_set(e, ERR_INVALID, "%s: the node %s already exists", path, name);
            map_put(names, name, row);
        }
    }
    return 0;
}

/* Adds later nodes: added machines, and created Node objects. */
static void add_later_nodes(const struct spec_world *w, struct map *names)
{
    for (size_t i = 0; i < w->action_count; i++) {
        const struct spec_action *a = &w->actions[i];
        const char *name = a->verb == SPEC_NODE_ADD ? a->name
                           : a->body && str_eq(json_str(a->body, "kind"), "Node")
                               ? json_str(a->body, "metadata.name")
                               : NULL;
        if (name && !map_get(names, name))
            map_put(names, name, (void *) a);
    }
    JSON_EACH (object, w->objects) {
        const char *name = str_eq(json_str(object, "kind"), "Node")
                               ? json_str(object, "metadata.name")
                               : NULL;
        if (name && !map_get(names, name))
            map_put(names, name, object);
    }
}

static bool is_autoscaled(const struct spec_autoscaler *a, const char *name)
{
    const char *prefix = !a->shape ? NULL : a->prefix ? a->prefix : a->shape->name;
    return prefix && str_has_prefix(name, prefix);
}

/* ---- faults of GPUs */

static int check_percent(const char *key, int percent, struct err *e)
{
    return percent <= 100 ? 0 : err_set(e, ERR_INVALID, "gpuFaults.%s: must be a percentage", key);
}

static int check_gpu_faults(const struct spec_gpu_faults *f, struct err *e)
{
    enum { RATE_MAX = 1000000, SPEED_MAX = 100000 };
    int64_t weights = f->mix ? 0 : 1;
    if (f->rate > RATE_MAX || f->speed_up > SPEED_MAX)
        return err_set(e, ERR_INVALID, "gpuFaults.%s: must be at most %d",
                       f->rate > RATE_MAX ? "rate" : "speedUp",
                       f->rate > RATE_MAX ? RATE_MAX : SPEED_MAX);
    for (size_t i = 0; i < f->mix_count; i++)
        weights += f->mix[i].weight;
    if (weights == 0)
        return err_set(e, ERR_INVALID, "gpuFaults.mix: one weight must be more than 0");
    if (check_percent("sticky", f->sticky, e) < 0 || check_percent("flapping", f->flapping, e) < 0)
        return -1;
    return check_percent("noBoot", f->no_boot, e);
}

/* ---- actions */

static int missing(const char *path, const char *key, const char *verb, const char *what,
                   struct err *e)
{
    return err_set(e, ERR_INVALID, "%s.%s: is missing; %s needs %s", path, key, verb, what);
}

static int check_pairs(const char *path, const json_t *pairs, struct err *e)
{
    JSON_EACH_MEMBER (key, value, pairs)
        if (!json_is_string(value) && !json_is_null(value))
            return err_set(e, ERR_INVALID,
                           "%s: the value of %s must be text (in quotes, as \"false\") or null",
                           path, key);
    return 0;
}

static int check_body(const char *path, const char *verb, const struct spec_action *a,
                      struct err *e)
{
    unsigned need = needs[a->verb];
    CLEANUP_FREE char *with = xasprintf("%s.with", path);
    if (!(need & NEED_BODY))
        return 0;
    if (!a->body)
        return missing(path, "with", verb,
                       need & NEED_MANIFEST ? "the object"
                       : need & NEED_TAINT  ? "the taint"
                       : need & NEED_PAIRS  ? "the keys and their values"
                       : need & NEED_FAULT  ? "the fault"
                                            : "the merge patch",
                       e);
    if (need & NEED_MANIFEST)
        return check_manifest(with, a->body, e);
    if (need & NEED_PAIRS)
        return check_pairs(with, a->body, e);
    return need & NEED_TAINT ? check_taint(with, a->body, need & NEED_EFFECT, e) : 0;
}

/* Checks `kind` and the name as the action requires, and whether that node can ever exist. */
static int check_target(const struct spec_world *w, const json_t *row, const char *path,
                        const struct spec_action *a, const struct map *names, struct err *e)
{
    const char *verb = json_str_or_empty(row, "do"),
               *key = json_object_get(row, "node") ? "node" : "name";
    CLEANUP_FREE char *name_path = xasprintf("%s.%s", path, key);
    unsigned need = needs[a->verb];
    bool on_node = need & NEED_NODE || (need & NEED_KIND && str_eq(a->kind, "nodes"));
    if (need & NEED_KIND && !a->kind)
        return missing(path, "kind", verb, "a kind and a name, or a node", e);
    if (need & (NEED_NAME | NEED_NODE) && !a->name)
        return missing(path, on_node ? "node" : "name", verb,
                       on_node ? "the name of a node" : "a name", e);
    if (a->name && check_name_now(name_path, a->name, e) < 0)
        return -1;
    if (on_node && !map_get(names, a->name) && !is_autoscaled(&w->autoscaler, a->name))
        return err_set(e, ERR_INVALID, "%s: neither `nodes` nor a NodeAdd gives a node %s",
                       name_path, a->name);
    return 0;
}

static int check_action(const struct spec_world *w, const json_t *row, const char *path,
                        const struct spec_action *a, const struct map *names, struct err *e)
{
    CLEANUP_FREE char *kind_path = xasprintf("%s.kind", path);
    const char *verb = json_str_or_empty(row, "do");
    if (a->kind && check_kind(kind_path, a->kind, e) < 0)
        return -1;
    if (check_target(w, row, path, a, names, e) < 0)
        return -1;
    if (needs[a->verb] & NEED_SHAPE && !a->shape)
        return missing(path, "shape", verb, "the name of one of the shapes", e);
    return check_body(path, verb, a, e);
}

int scenario_check(const struct spec_world *w, const json_t *root, struct err *e)
{
    struct map names = { 0 };
    int rc = check_shapes(root, e);
    if (rc == 0)
        rc = check_nodes(w, root, &names, e);
    if (rc == 0)
        rc = check_objects(w, e);
    if (rc == 0)
        rc = check_gpu_faults(&w->gpu_faults, e);
    add_later_nodes(w, &names);
    for (size_t i = 0; i < w->action_count && rc == 0; i++) {
        CLEANUP_FREE char *path = xasprintf("actions[%zu]", i);
        rc = check_action(w, json_array_get(json_object_get(root, "actions"), i), path,
                          &w->actions[i], &names, e);
    }
    map_clear(&names);
    return rc;
}
