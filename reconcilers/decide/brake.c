#include "reconcilers/decide/brake.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Names in a message. */
enum { NAMED_MAX = 5 };

/* ---- the list */

void brake_list_add(struct brake_list *l, const char *name, int64_t since_s)
{
    size_t at = l->len;
    while (at > 0 && l->nodes[at - 1].since_s > since_s)
        at--;
    if ((l->len & (l->len - 1)) == 0) /* full, at 0, 1, 2, 4, … */
        l->nodes = xreallocarray(l->nodes, l->len ? 2 * l->len : 1, sizeof *l->nodes);
    memmove(&l->nodes[at + 1], &l->nodes[at], (l->len - at) * sizeof *l->nodes);
    l->nodes[at] = (struct brake_node){ xstrdup(name), since_s };
    l->len++;
}

/* Index of the node; the list's length: it is not there. */
static size_t brake_place_of(const struct brake_list *l, const char *name)
{
    size_t at = 0;
    while (at < l->len && !str_eq(l->nodes[at].name, name))
        at++;
    return at;
}

bool brake_list_has(const struct brake_list *l, const char *name)
{
    return brake_place_of(l, name) < l->len;
}

static void cut(struct brake_list *l, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        free(l->nodes[i].name);
    memmove(&l->nodes[at], &l->nodes[at + n], (l->len - at - n) * sizeof *l->nodes);
    l->len -= n;
}

void brake_list_remove(struct brake_list *l, const char *name)
{
    size_t at = brake_place_of(l, name);
    if (at < l->len)
        cut(l, at, 1);
}

void brake_list_drop(struct brake_list *l, size_t n)
{
    if (n > 0)
        cut(l, 0, n);
}

void brake_list_correct(struct brake_list *l, int64_t now_s)
{
    for (size_t i = l->len; i > 0 && l->nodes[i - 1].since_s > now_s; i--)
        l->nodes[i - 1].since_s = now_s;
}

void brake_list_clear(struct brake_list *l)
{
    for (size_t i = 0; i < l->len; i++)
        free(l->nodes[i].name);
    free(l->nodes);
    *l = (struct brake_list){ 0 };
}

/* ---- the verdict */

static size_t limit_of(const struct brake_spec *spec, size_t gpu_nodes)
{
    size_t share = rollout_count_of(&spec->max_nodes, gpu_nodes), floor = (size_t) spec->floor;
    return share > floor ? share : floor;
}

static bool is_within(const struct brake_spec *spec, int64_t since_s, int64_t now_s)
{
    return now_s - since_s <= spec->window_s;
}

/* Replays how the nodes came, one after the other. A storm that is over counts for nothing: the
 * next one begins with a window of its own. */
void brake_judge(const struct brake_list *l, const struct brake_spec *spec, size_t gpu_nodes,
                 int64_t now_s, struct brake_verdict *ret)
{
    *ret = (struct brake_verdict){ .limit = limit_of(spec, gpu_nodes) };
    for (size_t i = 0; i < l->len; i++) {
        int64_t at_s = l->nodes[i].since_s;
        if (ret->on && at_s >= ret->until_s) {
            ret->on = false;
            ret->first = i;
        }
        while (!ret->on && !is_within(spec, l->nodes[ret->first].since_s, at_s))
            ret->first++;
        if (!ret->on && i - ret->first >= ret->limit) {
            ret->on = true;
            ret->since_s = at_s;
        }
        ret->until_s = at_s + spec->cooldown_s;
    }
    if (ret->on && now_s < ret->until_s)
        return;
    size_t first = ret->on ? l->len : ret->first;
    while (first < l->len && !is_within(spec, l->nodes[first].since_s, now_s))
        first++;
    *ret = (struct brake_verdict){ .first = first, .limit = ret->limit };
}

bool brake_is_full(const struct brake_list *l, const struct brake_verdict *v,
                   const struct brake_spec *spec, int64_t now_s)
{
    size_t within = 0;
    for (size_t i = v->first; i < l->len; i++)
        within += is_within(spec, l->nodes[i].since_s, now_s);
    return v->on || (l->len && within >= v->limit);
}

bool brake_holds(const struct brake_list *l, const struct brake_verdict *v, const char *name)
{
    if (!v->on)
        return false;
    size_t at = brake_place_of(l, name);
    return at < l->len && at >= v->first + v->limit;
}

/* ---- texts */

/* Keeps the first names, in their order. */
static void name_node(const char *name, const char *named[static NAMED_MAX])
{
    for (size_t i = 0; i < NAMED_MAX && name; i++) {
        const char *there = named[i];
        if (there && strverscmp(name, there) > 0)
            continue;
        named[i] = name;
        name = there;
    }
}

const char *brake_names(const struct brake_list *l, size_t first, struct arena *a)
{
    const char *named[NAMED_MAX] = { NULL };
    for (size_t i = first; i < l->len; i++)
        name_node(l->nodes[i].name, named);
    const char *text = named[0];
    for (size_t i = 1; i < NAMED_MAX && named[i]; i++)
        text = arena_printf(a, "%s, %s", text, named[i]);
    size_t more = l->len - first > NAMED_MAX ? l->len - first - NAMED_MAX : 0;
    return more ? arena_printf(a, "%s and %zu other%s", text, more, more == 1 ? "" : "s") : text;
}
