#include "reconcilers/model/pod_traits.h"

#include <string.h>

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
    JSON_EACH_MEMBER (key, value, labels) {
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
    JSON_EACH (t, tolerations) {
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
