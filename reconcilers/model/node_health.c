#include "reconcilers/model/node_health.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/node_inventory.h"

/* Shortest PCI address: "0000:65:00.0". */
enum { ADDRESS_MIN = 12 };

/* Everything that a report may have, before it gets its size. */
struct reading {
    struct gpu_fault faults[HEALTH_FAULTS_MAX];
    struct gpu_health gpus[HEALTH_GPUS_MAX];
    uint8_t faults_len, gpus_len;
};

/* False: it is not an address as agents write it. */
static bool take_address(const json_t *row, char ret[static HEALTH_ADDRESS_MAX])
{
    const char *text = json_str_or_empty(row, "address");
    size_t len = strlen(text);
    if (len < ADDRESS_MIN || len >= HEALTH_ADDRESS_MAX || strspn(text, "0123456789abcdef:.") != len)
        return false;
    memcpy(ret, text, len + 1);
    return true;
}

/* A text without blanks; one that is longer, or has other bytes, is left out. */
static void take_token(const char *text, char *ret, size_t size)
{
    if (strlen(text) >= size)
        return;
    for (const char *c = text; *c; c++)
        if (*c <= ' ' || *c > '~')
            return;
    snprintf(ret, size, "%s", text);
}

/* A number within its bounds; `absent` for all others. */
static uint32_t number_of(const json_t *row, const char *key, int64_t min, int64_t max,
                          uint32_t absent)
{
    int64_t n = json_int(row, key, -1);
    return n >= min && n <= max ? (uint32_t) n : absent;
}

static enum gpu_fabric fabric_of(const json_t *row)
{
    static const char *const names[] = {
        [FABRIC_HEALTHY] = "Healthy", [FABRIC_LIMITED] = "Limited", [FABRIC_UNHEALTHY] = "Unhealthy"
    };
    const char *text = json_str(row, "fabric");
    for (int i = FABRIC_HEALTHY; i <= FABRIC_UNHEALTHY; i++)
        if (str_eq(names[i], text))
            return (enum gpu_fabric) i;
    return FABRIC_UNKNOWN;
}

static uint32_t time_of(const json_t *row, const char *key)
{
    int64_t s = object_time_s(row, key);
    return s > 0 && s <= UINT32_MAX ? (uint32_t) s : 0;
}

static bool has_fault(const struct reading *r, const char *address)
{
    for (size_t i = 0; i < r->faults_len; i++)
        if (str_eq(r->faults[i].address, address))
            return true;
    return false;
}

static bool is_well(const struct gpu_health *g)
{
    return g->recovery <= RECOVERY_NONE && g->fabric <= FABRIC_HEALTHY && !g->remap_pending &&
           !g->remap_failed && !g->sram_exceeded && !g->lost && !g->hangs && !g->double_bit_errors;
}

/* Adds a GPU unless nothing is wrong with it. `listed`: the GPUs of the bus. */
static void take_gpu(struct reading *r, const json_t *row, const json_t *listed)
{
    struct gpu_health *g = &r->gpus[r->gpus_len];
    memset(g, 0, sizeof *g);
    if (!take_address(row, g->address))
        return;
    take_token(json_str_or_empty(row, "serial"), g->serial, sizeof g->serial);
    take_token(json_str_or_empty(json_find(listed, "address", g->address), "uuid"), g->uuid,
               sizeof g->uuid);
    g->recovery = gpu_recovery_parse(json_str(row, "recovery"));
    g->fabric = fabric_of(row);
    g->remap_pending = json_bool(row, "remapPending", false);
    g->remap_failed = json_bool(row, "remapFailed", false);
    g->sram_exceeded = json_bool(row, "sramExceeded", false);
    g->lost = json_bool(row, "lost", false);
    g->hangs = json_bool(row, "hangs", false);
    g->double_bit_errors = number_of(row, "doubleBitErrors", 0, INT32_MAX, 0);
    r->gpus_len += !is_well(g) || has_fault(r, g->address);
}

/* Adds a fault at its place: the newest is last, whatever the order of the report. */
static void take_fault(struct reading *r, const json_t *row)
{
    struct gpu_fault f;
    memset(&f, 0, sizeof f);
    f.xid = (uint16_t) number_of(row, "xid", 0, UINT16_MAX, 0);
    if (!take_address(row, f.address) || json_int(row, "xid", -1) != f.xid)
        return;
    f.nvswitch = json_bool(row, "nvswitch", false);
    f.fatal = json_bool(row, "fatal", false);
    f.recovery = gpu_recovery_parse(json_str(row, "recovery"));
    f.count = number_of(row, "count", 1, INT32_MAX, 1);
    f.first_s = time_of(row, "first");
    f.last_s = time_of(row, "last");
    f.boot = str_hash_id(json_str(row, "bootId"));
    size_t at = r->faults_len++;
    for (; at > 0 && r->faults[at - 1].last_s > f.last_s; at--)
        memcpy(&r->faults[at], &r->faults[at - 1], sizeof f);
    memcpy(&r->faults[at], &f, sizeof f);
}

/* A copy as small as its contents. */
static struct node_health *fitted(const struct reading *r)
{
    size_t faults = r->faults_len * sizeof *r->faults, gpus = r->gpus_len * sizeof *r->gpus;
    struct node_health *h = xcalloc(1, sizeof *h + faults + gpus);
    h->faults = (struct gpu_fault *) (void *) (h + 1);
    h->gpus = (struct gpu_health *) (void *) (h->faults + r->faults_len);
    h->faults_len = r->faults_len;
    h->gpus_len = r->gpus_len;
    memcpy(h->faults, r->faults, faults);
    memcpy(h->gpus, r->gpus, gpus);
    return h;
}

struct node_health *node_health_read(const json_t *inventory)
{
    const json_t *gpus = json_object_get(inventory, "health"),
                 *faults = json_object_get(inventory, "faults");
    if (json_array_size(gpus) > HEALTH_GPUS_MAX)
        gpus = NULL;
    if (json_array_size(faults) > HEALTH_FAULTS_MAX)
        faults = NULL;
    struct reading r;
    r.faults_len = r.gpus_len = 0;
    JSON_EACH (row, faults)
        take_fault(&r, row);
    JSON_EACH (row, gpus)
        take_gpu(&r, row, json_object_get(inventory, "gpus"));
    return r.faults_len || r.gpus_len ? fitted(&r) : NULL;
}

bool node_health_same(const struct node_health *a, const struct node_health *b)
{
    if (!a || !b)
        return a == b;
    /* Rows begin as zeroes, so the bytes behind texts and between members are equal too. */
    return a->faults_len == b->faults_len && a->gpus_len == b->gpus_len &&
           memcmp(a->faults, b->faults, a->faults_len * sizeof *a->faults) == 0 &&
           memcmp(a->gpus, b->gpus, a->gpus_len * sizeof *a->gpus) == 0;
}
