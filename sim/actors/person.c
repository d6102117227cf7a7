/* Executes a scenario's timed actions of users and on machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/objects.h"

struct person {
    struct actors *a;
    struct agenda agenda; /* indexes of actions */
};

typedef bool deed_fn(struct actors *a, const struct spec_action *action, struct refusal *r);

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
                                const struct kind **ret_kind, struct refusal *r)
{
    *ret_kind = kind_of_action(action);
    json_t *object = *ret_kind && action->name
                         ? api_get(a->api, *ret_kind, str_or_empty(action->ns), action->name)
                         : NULL;
    if (!object)
        not_there(*ret_kind, action, r);
    return object;
}

/* ---- objects */

static bool person_create(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const struct kind *k = kind_of_action(action);
    return k ? api_create(a->api, user_of(action), k, action->body, r) == 0
             : not_there(k, action, r);
}

static bool apply(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const struct kind *k = kind_of_action(action);
    return k ? api_apply(a->api, user_of(action), k, action->body, true, r) == 0
             : not_there(k, action, r);
}

static bool merge(struct actors *a, const struct spec_action *action, const char *subresource,
                  struct refusal *r)
{
    const struct kind *k;
    return object_of_action(a, action, &k, r) &&
           api_merge(a->api, user_of(action), k, str_or_empty(action->ns), action->name,
                     subresource, action->body, r) == 0;
}

static bool edit(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return merge(a, action, "", r);
}

static bool edit_status(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return merge(a, action, "status", r);
}

static bool delete (struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const struct kind *k;
    return object_of_action(a, action, &k, r) &&
           api_delete(a->api, user_of(action), k, str_or_empty(action->ns), action->name, NULL, -1,
                      r) == 0;
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
    json_t *out = json_object(), *value;
    const char *key;
    json_object_foreach ((json_t *) pairs, key, value) {
        const char *text = json_string_value(value);
        if (text && *text == '=')
            json_object_set_new(out, key, read_value(a, object, text + 1));
        else
            json_object_set(out, key, value);
    }
    return out;
}

/* Labels and annotations: a merge patch of one map. */
static bool mark(struct actors *a, const struct spec_action *action, const char *map,
                 struct refusal *r)
{
    const struct kind *k;
    const json_t *object = object_of_action(a, action, &k, r);
    if (!object)
        return false;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:o}}", "metadata", map,
                                           read_values(a, object, action->body));
    return api_merge(a->api, user_of(action), k, str_or_empty(action->ns), action->name, "", patch,
                     r) == 0;
}

static bool label(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return mark(a, action, "labels", r);
}

static bool annotate(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return mark(a, action, "annotations", r);
}

/* ---- nodes */

static json_t *node_of(const struct actors *a, const struct spec_action *action, struct refusal *r)
{
    json_t *node = action->name ? api_get(a->api, a->kinds.node, "", action->name) : NULL;
    if (!node)
        not_there(a->kinds.node, action, r);
    return node;
}

static bool merge_spec(struct actors *a, const struct spec_action *action, const json_t *node,
                       json_t *spec_steal, struct refusal *r)
{
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
                                           json_str_or_empty(node, "metadata.resourceVersion"),
                                           "spec", spec_steal);
    return api_merge(a->api, user_of(action), a->kinds.node, "", action->name, "", patch, r) == 0;
}

static bool cordon(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *node = node_of(a, action, r);
    return node && merge_spec(a, action, node, json_pack("{s:b}", "unschedulable", 1), r);
}

static bool uncordon(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *node = node_of(a, action, r);
    return node && merge_spec(a, action, node, json_pack("{s:n}", "unschedulable"), r);
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
    json_t *left = json_array(), *t;
    size_t i;
    json_array_foreach (json_at(node, "spec.taints"), i, t)
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
    json_array_append(taints, (json_t *) action->body);
    return merge_spec(a, action, node, json_pack("{s:o}", "taints", taints), r);
}

static bool untaint(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    const json_t *node = node_of(a, action, r);
    return node && merge_spec(a, action, node,
                              json_pack("{s:o}", "taints", taints_without(node, action->body)), r);
}

/* ---- machines */

static bool on_machine(struct actors *a, const struct spec_action *action,
                       void (*hook)(struct actors *, const char *), struct refusal *r)
{
    struct actors_machine m;
    if (!action->name || !actors_machine(a, action->name, &m))
        return not_there(a->kinds.node, action, r);
    hook(a, action->name);
    return true;
}

static bool reboot(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_node_reboot, r);
}

static bool down(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_node_down, r);
}

static bool up(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_node_up, r);
}

static bool cut_off(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_node_cut_off, r);
}

static bool rejoin(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_node_rejoin, r);
}

static bool restart_kubelet(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_kubelet_restart, r);
}

static bool remove_node(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_node_remove, r);
}

static bool take_gpus_out(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_gpus_out, r);
}

static bool put_gpus_in(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_gpus_in, r);
}

static bool silence_agent(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_agent_silent, r);
}

static bool restart_agent(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    return on_machine(a, action, actors_agent_restart, r);
}

static bool tell_agent(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    struct actors_machine m;
    if (!action->name || !actors_machine(a, action->name, &m))
        return not_there(a->kinds.node, action, r);
    actors_agent_says(a, action->name, action->body);
    return true;
}

static bool add_node(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    if (!action->name || !action->shape)
        return not_there(a->kinds.node, action, r);
    actors_node_add(a, action->name, action->shape);
    return true;
}

static bool crash(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    if (!action->name || !api_get(a->api, a->kinds.pod, str_or_empty(action->ns), action->name))
        return not_there(a->kinds.pod, action, r);
    actors_pod_crash(a, str_or_empty(action->ns), action->name,
                     (int) json_int(action->body, "exitCode", 1),
                     json_str(action->body, "message"));
    return true;
}

static bool restart_labeller(struct actors *a, const struct spec_action *action, struct refusal *r)
{
    (void) action;
    (void) r;
    actors_labeller_restart(a);
    return true;
}

static deed_fn *const deeds[SPEC_DEED_COUNT] = {
    [SPEC_CREATE] = person_create,
    [SPEC_APPLY] = apply,
    [SPEC_EDIT] = edit,
    [SPEC_DELETE] = delete,
    [SPEC_EVICT] = person_evict,
    [SPEC_CORDON] = cordon,
    [SPEC_UNCORDON] = uncordon,
    [SPEC_LABEL] = label,
    [SPEC_ANNOTATE] = annotate,
    [SPEC_TAINT] = taint,
    [SPEC_UNTAINT] = untaint,
    [SPEC_REBOOT] = reboot,
    [SPEC_NODE_DOWN] = down,
    [SPEC_NODE_UP] = up,
    [SPEC_NODE_CUT_OFF] = cut_off,
    [SPEC_NODE_REJOIN] = rejoin,
    [SPEC_NODE_ADD] = add_node,
    [SPEC_NODE_REMOVE] = remove_node,
    [SPEC_CRASH] = crash,
    [SPEC_LABELLER_RESTART] = restart_labeller,
    [SPEC_EDIT_STATUS] = edit_status,
    [SPEC_GPUS_OUT] = take_gpus_out,
    [SPEC_GPUS_IN] = put_gpus_in,
    [SPEC_AGENT_SAYS] = tell_agent,
    [SPEC_AGENT_SILENT] = silence_agent,
    [SPEC_AGENT_RESTART] = restart_agent,
    [SPEC_KUBELET_RESTART] = restart_kubelet,
};

bool actors_do(struct actors *a, const struct spec_action *action, struct refusal *refusal)
{
    CLEANUP_REFUSAL struct refusal own = { 0 };
    return deeds[action->deed](a, action, refusal ? refusal : &own);
}

/* ---- timed actions */

static void person_look(void *self, const char *place)
{
    struct person *p = self;
    const struct spec_action *action = &p->a->world.actions[strtoul(place, NULL, 10)];
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    bool done = actors_do(p->a, action, &refusal);
    if (p->a->done)
        p->a->done(p->a->arg, action, done ? NULL : &refusal);
}

static void person_commit(void *self, const struct api_commit *c)
{
    (void) self;
    (void) c;
}

static void *person_begin(struct actors *a)
{
    struct person *p = xcalloc(1, sizeof *p);
    p->a = a;
    agenda_init(&p->agenda, a->sim, "person", (struct spec_delay){ 0, 0 }, person_look, p);
    for (size_t i = 0; i < a->world.action_count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        agenda_at(&p->agenda, place, a->world.actions[i].at_ms);
    }
    return p;
}

static void person_end(void *self)
{
    struct person *p = self;
    agenda_clear(&p->agenda);
    free(p);
}

const struct actor person_actor = { person_begin, person_commit, person_end };
