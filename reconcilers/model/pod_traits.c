#include "reconcilers/model/pod_traits.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/policy_rules.h"

#define TOLERATES_ALL "~\n"

enum {
    /* Labels beyond this are dropped: only a huge number of them takes so much. A tenant may have
     * thousands of such pods. */
    TRAITS_MAX = 4 << 10,
    TOLERATED_MAX = 1 << 10,
};

/* Neither keys nor values contain either separator. */
static void pod_traits_add_labels(struct buf *text, const struct selector *asks,
                                  const json_t *labels)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) labels, key, value) {
        if (asks && !selector_asks(asks, key))
            continue;
        CLEANUP_FREE char *line = xasprintf("%s=%s\n", key, str_or_empty(json_string_value(value)));
        if (!buf_add(text, line, strlen(line)))
            break;
    }
}

/* Taints with effect NoSchedule and any value, because the upgrade taint's value differs between
 * claims. */
static void add_tolerated(struct buf *text, const json_t *tolerations)
{
    CLEANUP_BUF struct buf lines = BUF_INIT(TOLERATED_MAX);
    bool all = false;
    size_t i;
    json_t *t;
    json_array_foreach (tolerations, i, t) {
        const char *key = json_str_or_empty(t, "key"), *effect = json_str_or_empty(t, "effect");
        if ((*effect && !str_eq(effect, "NoSchedule")) || policy_taint_of_kubernetes(key))
            continue;
        CLEANUP_FREE char *line = xasprintf("~%s\n", key);
        /* More than fits is more than any legitimate pod has. */
        all = all || !*key || !buf_add(&lines, line, strlen(line));
    }
    buf_str(text, all ? TOLERATES_ALL : buf_text(&lines));
}

uint32_t pod_traits(struct intern *in, const struct selector *asks, const json_t *object)
{
    CLEANUP_BUF struct buf text = BUF_INIT(TRAITS_MAX);
    add_tolerated(&text, json_at(object, "spec.tolerations"));
    pod_traits_add_labels(&text, asks, json_at(object, "metadata.labels"));
    return text.len ? intern_add(in, buf_text(&text)) : INTERN_NONE;
}

/* The traits of a user's pod. */
static const char *traits_of(const struct intern *in, const struct pod *p)
{
    return str_or_empty(p->component == OPERAND_NONE ? intern_text(in, p->traits) : NULL);
}

bool pod_tolerates(const struct intern *in, const struct pod *p, const char *key)
{
    size_t len = strlen(key);
    for (const char *line = traits_of(in, p); *line == '~'; line = strchr(line, '\n') + 1)
        if (line[1] == '\n' || (strncmp(&line[1], key, len) == 0 && line[1 + len] == '\n'))
            return true;
    return false;
}

bool pod_selected(const struct intern *in, const struct pod *p, const struct selector *selector)
{
    if (selector_is_empty(selector))
        return true;
    CLEANUP_ARENA struct arena a = { 0 };
    char *rest = arena_strdup(&a, traits_of(in, p)), *line;
    /* A line has at least two bytes. */
    struct selector_label *items = arena_alloc(&a, (strlen(rest) / 2 + 1) * sizeof *items);
    struct selector_labels labels = { items, 0 };
    while ((line = strsep(&rest, "\n")) && *line) {
        if (*line == '~')
            continue;
        const char *key = strsep(&line, "=");
        items[labels.len++] = (struct selector_label){ key, str_or_empty(line) };
    }
    return selector_matches(selector, selector_lookup_list, &labels);
}
