#include "runtime/list_check.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kube/object.h"
#include "kube/split.h"

struct list_check {
    struct split split;
    list_check_fn *seen;
    void *arg;
    uint64_t rv; /* of the list; 0: no item yet */
    bool news;
    struct err failure;
};

/* The list's version from its incomplete envelope. */
static uint64_t version_so_far(const struct buf *envelope)
{
    CLEANUP_FREE char *closed = xasprintf("%s]}", buf_text(envelope));
    CLEANUP_JSON json_t *list = json_parse(closed, envelope->len + 2, NULL);
    return list ? object_rv(list) : 0;
}

static int take_item(void *arg, const char *text, size_t len, struct err *e)
{
    struct list_check *l = arg;
    if (!l->rv)
        l->rv = version_so_far(split_envelope(&l->split));
    if (!l->rv)
        return err_set(e, ERR_INVALID, "the list has no version before its items");
    CLEANUP_JSON json_t *object = json_parse_stored(text, len, e);
    if (object)
        l->news |= l->seen(l->arg, object, l->rv);
    return object ? 0 : -1;
}

struct list_check *list_check_new(const struct split_view *view, list_check_fn *seen, void *arg)
{
    struct list_check *l = xcalloc(1, sizeof *l);
    split_init(&l->split, SPLIT_LIST, view, take_item, l);
    l->seen = seen;
    l->arg = arg;
    return l;
}

int list_check_feed(struct list_check *l, const char *bytes, size_t n)
{
    return split_feed(&l->split, bytes, n, &l->failure);
}

void list_check_end(struct list_check *l, struct err *e)
{
    if (l->failure.kind != ERR_NONE)
        err_set(e, l->failure.kind, "%s", err_msg(&l->failure));
    else if (!split_complete(&l->split))
        err_set(e, ERR_UNREACHABLE, "the list has no end");
    else if (l->news)
        err_set(e, ERR_CONFLICT, "the list has an object that the watch has not reported yet");
}

void list_check_free(struct list_check *l)
{
    if (!l)
        return;
    split_clear(&l->split);
    err_clear(&l->failure);
    free(l);
}
