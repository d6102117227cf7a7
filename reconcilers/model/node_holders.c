#include "reconcilers/model/node_holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { PID_MAX = 1 << 22, CONTAINER_SHOWN = 12 };

static void node_holders_take_text(const json_t *holder, const char *key, int max,
                                   char ret[static HOLDER_NAME_MAX])
{
    snprintf(ret, HOLDER_NAME_MAX, "%.*s", max, json_str_or_empty(holder, key));
    /* For sentences: one line, without bytes that JSON encodes as six. */
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it begins at an array. */
    for (char *c = ret; *c; c++)
        if ((unsigned char) *c < ' ' || (unsigned char) *c > '~')
            *c = '?';
}

static void take_host(struct node_holders *h, const json_t *holder)
{
    struct host_holder *host = &h->hosts[h->host_count++];
    int64_t pid = json_int(holder, "pid", 0);
    node_holders_take_text(holder, "process", HOLDER_NAME_MAX - 1, host->process);
    node_holders_take_text(holder, "unit", HOLDER_NAME_MAX - 1, host->unit);
    node_holders_take_text(holder, "container", CONTAINER_SHOWN, host->container);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller made room for it. */
    host->fixed = *json_str_or_empty(holder, "podUid") != '\0';
    host->pid = pid > 0 && pid <= PID_MAX ? (int) pid : 0;
}

/* The uid of a pod that the API server assigned; "" for all else. */
static const char *uid_of(const json_t *holder)
{
    const char *uid = json_str_or_empty(holder, "podUid");
    return strchr(uid, '-') ? uid : "";
}

struct node_holders *node_holders_read(const json_t *inventory)
{
    const json_t *list = json_object_get(inventory, "holders");
    size_t count = json_array_size(list);
    if (count == 0 || count > NODE_HOLDERS_MAX)
        return NULL;
    struct node_holders *h = xcalloc(1, sizeof *h + count * sizeof *h->pods);
    JSON_EACH (holder, list)
        h->host_count += !*uid_of(holder);
    h->hosts = h->host_count ? xcalloc(h->host_count, sizeof *h->hosts) : NULL;
    h->host_count = 0;
    JSON_EACH (holder, list) {
        uint64_t id = str_hash_id(uid_of(holder));
        if (!id)
            take_host(h, holder);
        else if (!node_holders_have(h, id))
            h->pods[h->pod_count++] = id;
    }
    return h;
}

void node_holders_free(struct node_holders *h)
{
    if (!h)
        return;
    free(h->hosts);
    free(h);
}

bool node_holders_same(const struct node_holders *a, const struct node_holders *b)
{
    if (!a || !b)
        return a == b;
    /* Allocated with xcalloc(), so the bytes behind texts are equal too. */
    return a->host_count == b->host_count && a->pod_count == b->pod_count &&
           (!a->host_count || memcmp(a->hosts, b->hosts, a->host_count * sizeof *a->hosts) == 0) &&
           (!a->pod_count || memcmp(a->pods, b->pods, a->pod_count * sizeof *a->pods) == 0);
}

bool node_holders_have(const struct node_holders *h, uint64_t id)
{
    for (size_t i = 0; h && i < h->pod_count; i++)
        if (h->pods[i] == id)
            return true;
    return false;
}

uint64_t node_holders_hash(const struct node_holders *h)
{
    if (!h)
        return 0;
    const uint64_t parts[] = { str_hash(h->pods, h->pod_count * sizeof *h->pods),
                               h->host_count ? str_hash(h->hosts, h->host_count * sizeof *h->hosts)
                                             : 0 };
    return str_hash(parts, sizeof parts);
}
