#include "reconcilers/decide/brake.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Names in a message. */
enum { NAMED_MAX = 5 };

/* ---- the list */

static bool is_before(const struct brake_node *a, const struct brake_node *b)
{
    return a->since_s != b->since_s ? a->since_s < b->since_s : strverscmp(a->name, b->name) < 0;
}

/* Index of the node, or where it belongs. */
static size_t brake_place_of(const struct brake_list *l, const struct brake_node *node)
{
    size_t first = 0, end = l->len;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (is_before(&l->nodes[middle], node))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void brake_list_add(struct brake_list *l, struct brake_node node)
{
    size_t at = brake_place_of(l, &node);
    if ((l->len & (l->len - 1)) == 0) /* full, at 0, 1, 2, 4, … */
        l->nodes = xreallocarray(l->nodes, l->len ? 2 * l->len : 1, sizeof *l->nodes);
    memmove(&l->nodes[at + 1], &l->nodes[at], (l->len - at) * sizeof *l->nodes);
    l->nodes[at] = node;
    l->len++;
}

void brake_list_remove(struct brake_list *l, struct brake_node node)
{
    size_t at = brake_place_of(l, &node);
    memmove(&l->nodes[at], &l->nodes[at + 1], (l->len - at - 1) * sizeof *l->nodes);
    l->len--;
}

void brake_list_clear(struct brake_list *l)
{
    free(l->nodes);
    *l = (struct brake_list){ 0 };
}

/* ---- the verdict */

static size_t limit_of(const struct brake_spec *spec, size_t gpu_nodes)
{
    size_t share = rollout_count_of(&spec->max_nodes, gpu_nodes), floor = (size_t) spec->floor;
    return share > floor ? share : floor;
}

static int64_t time_of(const struct brake_list *l, size_t i, int64_t now_s)
{
    return l->nodes[i].since_s < now_s ? l->nodes[i].since_s : now_s;
}

/* Replays how the nodes became unhealthy, one after the other. A storm that is over counts for
 * nothing: the next one begins with a window of its own. */
void brake_judge(const struct brake_list *l, const struct brake_spec *spec, size_t gpu_nodes,
                 int64_t now_s, struct brake_verdict *ret)
{
    *ret = (struct brake_verdict){ .limit = limit_of(spec, gpu_nodes) };
    for (size_t i = 0; i < l->len; i++) {
        int64_t at_s = time_of(l, i, now_s);
        if (ret->on && at_s >= ret->until_s) {
            ret->on = false;
            ret->first = i;
        }
        while (!ret->on && at_s - time_of(l, ret->first, now_s) > spec->window_s)
            ret->first++;
        if (!ret->on && i - ret->first >= ret->limit) {
            ret->on = true;
            ret->since_s = at_s;
        }
        ret->until_s = at_s + spec->cooldown_s;
    }
    if (!ret->on || now_s >= ret->until_s)
        *ret = (struct brake_verdict){ .limit = ret->limit };
}

bool brake_holds(const struct brake_list *l, const struct brake_verdict *v, struct brake_node node)
{
    return v->on && brake_place_of(l, &node) >= v->first + v->limit;
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
