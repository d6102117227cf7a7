#include "reconcilers/model/pod_text.h"

#include <string.h>

#include "base/json_plain.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vendor.h"
#include "kube/split.h"

static const char *find(const char *text, size_t len, const char *what)
{
    return memmem(text, len, what, strlen(what));
}

/* Calls a function for the value of each member with this name, as long as it returns false;
 * returns whether it has returned true, or a value is not readable. The name has its quotes. */
static bool any_value(const char *text, size_t len, const char *name,
                      bool (*is)(const void *arg, const char *value), const void *arg)
{
    const char *end = text + len;
    for (const char *at = text; (at = find(at, (size_t) (end - at), name));) {
        at += strlen(name);
        const char *value = at + 2;
        bool readable = end - at > 2 && at[0] == ':' && at[1] == '"';
        const char *quote = readable ? memchr(value, '"', (size_t) (end - value)) : NULL;
        CLEANUP_FREE char *copy = quote ? xstrndup(value, (size_t) (quote - value)) : NULL;
        if (!copy || is(arg, copy))
            return true;
    }
    return false;
}

/* A text of a Pod on a node. */
struct on_node {
    const struct pod_text_asks *asks;
    const char *text, *node;
    size_t len;
};

static bool is_of_holder(const void *arg, const char *uid)
{
    const struct on_node *on = arg;
    return on->asks->holds(on->asks->arg, on->node, str_hash_id(uid));
}

/* Whether one of the uids in the text, its own or an owner's, holds a GPU of the node. */
static bool holds_there(const void *arg, const char *node)
{
    struct on_node on = *(const struct on_node *) arg;
    on.node = node;
    return any_value(on.text, on.len, "\"uid\"", is_of_holder, &on);
}

/* A label may be named as the members that are looked for, so all of a name count. */
static bool is_holder(const struct pod_text_asks *asks, const char *text, size_t len)
{
    const struct on_node on = { .asks = asks, .text = text, .len = len };
    return any_value(text, len, "\"nodeName\"", holds_there, &on);
}

/* Containers beyond a limit are left out of a view, and may use GPUs. */
static bool may_be_cut(const char *text, size_t len)
{
    size_t objects = 0;
    if (len < SPLIT_MEMBERS_MAX * sizeof "{}")
        return false;
    for (size_t i = 0; i < len; i++)
        objects += text[i] == '{';
    return objects >= SPLIT_MEMBERS_MAX;
}

/* GPU resources and the signs of other operators have the vendor's word. */
static bool names_vendor(const char *text, size_t len)
{
    EACH_VENDOR (v)
        if (find(text, len, v->word))
            return true;
    return false;
}

bool pod_text_part_matters(const char *text, size_t len)
{
    return names_vendor(text, len) || !json_is_plain_text(text, len) || may_be_cut(text, len);
}

bool pod_text_matters(const struct pod_text_asks *asks, const char *text, size_t len)
{
    return find(text, len, asks->operand_namespace) || find(text, len, "\"resourceClaims\"") ||
           pod_text_part_matters(text, len) || is_holder(asks, text, len);
}
