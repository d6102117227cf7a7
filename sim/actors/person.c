/* Executes a scenario's timed actions of users and on machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/actors.h"
#include "sim/actors/objects.h"

struct person {
    struct actors *a;
    struct agenda agenda; /* indexes of actions */
};

typedef bool action_fn(struct actors *a, const struct spec_action *action, struct refusal *r);

static const char *user_of(const struct spec_action *action)
{
    return action->user ? action->user : "alice";
}

static const struct kind *kind_of_action(const struct spec_action *action)
{
    if (action->kind)
        for (size_t i = 0; i < kind_count(); i++)
            if (str_eq(kind_at(i)->plural, action->kind))
                return kind_at(i);
    return action->body ? kind_of(json_str_or_empty(action->body, "apiVersion"),
                                  json_str_or_empty(action->body, "kind"))
                        : NULL;
}

/* Refuses: no object of this name, or no such kind. */
static bool not_there(const struct kind *k, const struct spec_action *action, struct refusal *r)
{
    if (k && action->name)
        refuse_not_found(r, k, action->name);
    else
        refuse_generic(r, 404, "there is no such object");
    return false;
}

static json_t *object_of_action(const struct actors *a, const struct spec_action *action,
                                struct refusal *r)
{
    const struct kind *k = kind_of_action(action);
    json_t *object = k && action->name ? api_get(a->api, k, str_or_empty(action->ns), action->name)
                                       : NULL;
    if (!object)
        not_there(k, action, r);
    return object;
}

/* ---- objects */

static bool person_create(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const struct kind *k = kind_of_action(action);
    if (!k)
        return not_there(k, action, r);
    if (action->verb == SPEC_APPLY)
        return api_apply(a->api, user_of(action), k, action->body, true, r) == 0;
    return api_create(a->api, user_of(action), k, action->body, r) == 0;
}

static bool merge(struct actors *a, const struct spec_action *action, const char *subresource,
                  const json_t *patch, struct refusal *r)
{
    return api_merge(a->api, user_of(action), kind_of_action(action), str_or_empty(action->ns),
                     action->name, subresource, patch, r) == 0;
}

static bool edit(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const char *subresource = action->verb == SPEC_EDIT_STATUS ? "status" : "";
    return object_of_action(a, action, r) && merge(a, action, subresource, action->body, r);
}

static bool delete (struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return object_of_action(a, action, r) &&
           api_delete(a->api, user_of(action), kind_of_action(action), str_or_empty(action->ns),
                      action->name, NULL, -1, r) == 0;
}

static bool person_evict(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    if (!action->name)
        return not_there(NULL, action, r);
    return api_evict(a->api, user_of(action), str_or_empty(action->ns), action->name, r) == 0;
}

/* Resolves a value: "=status.rollout.plan" reads from the object, "=gpunodes/gpu-1
 * status.driver.target" from another one, and "=gpunodes/gpu-1 status.driver.target .2" appends
 * ".2". */
static json_t *read_value(const struct actors *a, const json_t *object, const char *place)
{
    const char *slash = strchr(place, '/'), *space = strchr(place, ' ');
    if (!slash || !space || slash > space)
        return json_text(json_str_or_empty(object, place));
    CLEANUP_FREE char *plural = xstrndup(place, (size_t) (slash - place));
    CLEANUP_FREE char *name = xstrndup(slash + 1, (size_t) (space - slash) - 1);
    const struct kind *k = kind_named(plural);
    const char *behind = strchr(space + 1, ' ');
    CLEANUP_FREE char *path = xstrndup(space + 1, strcspn(space + 1, " "));
    return json_textf("%s%s", json_str_or_empty(k ? api_get(a->api, k, "", name) : NULL, path),
                      behind ? behind + 1 : "");
}

/* Resolves the values of the pairs. New reference. */
static json_t *read_values(const struct actors *a, const json_t *object, const json_t *pairs)
{
    json_t *out = json_object();
    JSON_EACH_MEMBER (key, value, pairs) {
        const char *text = json_string_value(value);
        if (text && *text == '=')
            json_object_set_new(out, key, read_value(a, object, text + 1));
        else
            json_object_set(out, key, value);
    }
    return out;
}

/* Labels and annotations: a merge patch of one map. */
static bool mark(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *object = object_of_action(a, action, r);
    if (!object)
        return false;
    const char *map = action->verb == SPEC_LABEL ? "labels" : "annotations";
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:o}}", "metadata", map,
                                           read_values(a, object, action->body));
    return merge(a, action, "", patch, r);
}

/* ---- nodes */

static json_t *node_of(const struct actors *a, const struct spec_action *action, struct refusal *r)
{
    json_t *node = action->name ? api_get(a->api, a->kinds.node, "", action->name) : NULL;
    if (!node)
        not_there(a->kinds.node, action, r);
    return node;
}

static bool cordon(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *node = node_of(a, action, r);
    json_t *value = action->verb == SPEC_CORDON ? json_true() : json_null();
    return node && node_set_spec(a, user_of(action), node,
                                 json_pack("{s:o}", "unschedulable", value), r) == 0;
}

/* Whether two taints match; a missing effect matches any. */
static bool is_same_taint(const json_t *a, const json_t *b)
{
    const char *x = json_str(a, "effect"), *y = json_str(b, "effect");
    return str_eq(json_str(a, "key"), json_str(b, "key")) && (!x || !y || str_eq(x, y));
}

/* The node's taints without this one. New reference. */
static json_t *taints_without(const json_t *node, const json_t *taint)
{
    json_t *left = json_array();
    JSON_EACH (t, json_at(node, "spec.taints"))
        if (!is_same_taint(t, taint))
            json_array_append(left, t);
    return left;
}

static bool taint(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *node = node_of(a, action, r);
    if (!node)
        return false;
    json_t *taints = taints_without(node, action->body);
    if (action->verb == SPEC_TAINT)
        json_array_append(taints, (json_t *) action->body);
    return node_set_spec(a, user_of(action), node, json_pack("{s:o}", "taints", taints), r) == 0;
}

/* ---- machines */

static bool on_machine(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return kubelet_do(a, action) || not_there(a->kinds.node, action, r);
}

static bool remove_node(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    if (!action->name || !kubelet_shape(a, action->name))
        return not_there(a->kinds.node, action, r);
    kubelet_remove_node(a, action->name);
    return true;
}

static bool add_node(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    if (!action->name || !action->shape)
        return not_there(a->kinds.node, action, r);
    kubelet_add_node(a, &(struct spec_node){ .name = action->name, .shape = action->shape }, false);
    return true;
}

static bool crash(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *pod = action->name
                            ? api_get(a->api, a->kinds.pod, str_or_empty(action->ns), action->name)
                            : NULL;
    if (!pod)
        return not_there(a->kinds.pod, action, r);
    kubelet_crash(a, pod, (int) json_int(action->body, "exitCode", 1),
                  json_str(action->body, "message"));
    return true;
}

static bool restart_labeller(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    (void) action;
    (void) r;
    labeller_restart(a);
    return true;
}

static bool switch_faults(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return gpu_faults_switch(a, action->verb == SPEC_FAULTS_BEGIN) ||
           refuse_generic(r, 404, "this world has no gpuFaults") == 0;
}

/* All others are done to a machine. */
static action_fn *const action_fns[SPEC_VERB_COUNT] = {
    [SPEC_CREATE] = person_create,
    [SPEC_APPLY] = person_create,
    [SPEC_EDIT] = edit,
    [SPEC_DELETE] = delete,
    [SPEC_EVICT] = person_evict,
    [SPEC_CORDON] = cordon,
    [SPEC_UNCORDON] = cordon,
    [SPEC_LABEL] = mark,
    [SPEC_ANNOTATE] = mark,
    [SPEC_TAINT] = taint,
    [SPEC_UNTAINT] = taint,
    [SPEC_NODE_ADD] = add_node,
    [SPEC_NODE_REMOVE] = remove_node,
    [SPEC_CRASH] = crash,
    [SPEC_LABELLER_RESTART] = restart_labeller,
    [SPEC_EDIT_STATUS] = edit,
    [SPEC_FAULTS_BEGIN] = switch_faults,
    [SPEC_FAULTS_END] = switch_faults,
};

bool actors_do(struct actors *a, const struct spec_action *action, struct refusal *refusal)
{
    CLEANUP_REFUSAL struct refusal own = { 0 };
    action_fn *fn = action_fns[action->verb] ? action_fns[action->verb] : on_machine;
    return fn(a, action, refusal ? refusal : &own);
}

/* ---- timed actions */

static void person_look(void *self, const char *place)
{
    struct person *p = self;
    const struct spec_action *action = &p->a->world.actions[strtoul(place, NULL, 10)];
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    bool done = actors_do(p->a, action, &refusal);
    if (action->every_ms > 0)
        agenda_after(&p->agenda, place, action->every_ms);
    if (p->a->done)
        p->a->done(p->a->arg, action, done ? NULL : &refusal);
}

static void person_begin(void *self)
{
    struct person *p = self;
    for (size_t i = 0; i < p->a->world.action_count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        agenda_at(&p->agenda, place, p->a->world.actions[i].at_ms);
    }
}

const struct actor person_actor = {
    .size = sizeof(struct person),
    .agendas = { AGENDA(struct person, agenda, "person", controller, person_look) },
    .begin = person_begin,
};
