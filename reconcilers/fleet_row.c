#include "reconcilers/fleet_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/fleet_metrics.h"
#include "reconcilers/fleet_status.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"

#define LABEL_ZONE "topology.kubernetes.io/zone"

/* Powers of two: memories of what was last found at a place. */
enum { LABELS_KEPT = 1024, VERSIONS_KEPT = 32 };

/* The columns that a label fills: texts, and HELD. */
enum { LABEL_TEXTS = 3, LABELS };
static const enum fleet_text label_columns[LABEL_TEXTS] = { FLEET_ZONE, FLEET_RACK, FLEET_PRODUCT };

/* An interned label, which of the columns it fills, and with what. */
struct label_kept {
    uint32_t id; /* INTERN_NONE: free */
    uint8_t fills;
    const char *value;
};

struct version_kept {
    const struct revision_tally *of; /* NULL: free */
    const char *version;
};

struct fleet_reader {
    const struct cluster *c;
    struct arena texts;
    const char *keys[LABELS]; /* NULL: no such label */
    size_t key_lens[LABELS];
    struct version_kept versions[VERSIONS_KEPT];
    size_t labels_kept;
    struct label_kept labels[];
};

struct fleet_reader *fleet_reader_new(const struct cluster *c, bool many)
{
    size_t labels = many ? LABELS_KEPT : 1;
    struct fleet_reader *r = xcalloc(1, sizeof *r + labels * sizeof r->labels[0]);
    r->c = c;
    r->labels_kept = labels;
    const char *const keys[LABELS] = { LABEL_ZONE, c->policy_valid ? c->rollout.topology_key : NULL,
                                       LABEL_GPU_PRODUCT, LABEL_HOLD };
    for (size_t i = 0; i < LABELS; i++) {
        r->keys[i] = keys[i];
        r->key_lens[i] = keys[i] ? strlen(keys[i]) : 0;
    }
    return r;
}

void fleet_reader_cleanup(struct fleet_reader **r)
{
    arena_free(&(*r)->texts);
    free(*r);
}

bool fleet_shows(const struct node_slot *slot)
{
    const struct node_summary *s = &slot->summary;
    return slot->node && s->counted &&
           (s->state != NODE_UNMANAGED || s->gpu || slot->node->gpus > 0);
}

/* ---- texts */

/* One walk over the labels of a node: most of them are those of the node before, or of no use. */
static const struct label_kept *label_of(struct fleet_reader *r, uint32_t id)
{
    struct label_kept *kept = &r->labels[id & (r->labels_kept - 1)];
    if (kept->id == id)
        return kept;
    const char *label = intern_text(r->c->strings, id);
    *kept = (struct label_kept){ .id = id };
    for (size_t i = 0; i < LABELS; i++) {
        size_t len = r->key_lens[i];
        if (len && strncmp(label, r->keys[i], len) == 0 && label[len] == '=') {
            kept->fills |= (uint8_t) (1U << i);
            kept->value = label + len + 1;
        }
    }
    return kept;
}

static void take_labels(struct fleet_reader *r, const struct node *n, struct fleet_cells *ret)
{
    for (size_t i = 0; i < n->label_count; i++) {
        const struct label_kept *kept = label_of(r, n->labels[i]);
        for (size_t k = 0; kept->fills && k < LABEL_TEXTS; k++)
            if (kept->fills >> k & 1)
                ret->text[label_columns[k]] = kept->value;
        if (kept->fills >> LABEL_TEXTS & 1)
            ret->number[FLEET_HELD] = !str_eq(kept->value, "false");
    }
}

/* The version of a revision of the driver; its hash, if there is no record of it. */
static const char *driver_of(struct fleet_reader *r, const struct revision_tally *revision)
{
    if (!revision)
        return NULL;
    struct version_kept *kept =
        &r->versions[(uintptr_t) revision / sizeof(max_align_t) % VERSIONS_KEPT];
    if (kept->of == revision)
        return kept->version;
    const struct child *record = cluster_record_of(r->c, revision->tier, revision->hash);
    const char *version = record ? revision_version(record->inputs, revision->tier) : NULL;
    *kept = (struct version_kept){ revision, version ? version : revision->hash };
    return kept->version;
}

static const char *pool_of(const struct cluster *c, const struct node_summary *s)
{
    const char *pool = fleet_metrics_pool(c, s->state, s->pool);
    return *pool ? pool : NULL;
}

/* As the condition GpuReady has it. */
static const char *reason_of(struct fleet_reader *r, const struct node_slot *slot)
{
    const struct node_summary *s = &slot->summary;
    if (s->state == NODE_UNHEALTHY && !s->pod) {
        const struct node_view view = cluster_view(r->c, slot->node);
        struct fault_record record;
        if (fault_record_of(&view, &record) && fault_state_closes(record.state))
            return arena_strdup(&r->texts, record.reason);
    }
    if (s->cause)
        return s->cause->word;
    return s->state == NODE_READY ? reason_text(REASON_OPERANDS_UP) : node_state_name(s->state);
}

/* ---- numbers */

/* While the kubelet offers no GPUs because the driver is removed, the count before the claim
 * stands; of a node without a driver, what the agent found. */
static int64_t gpus_of(const struct cluster *c, const struct node_slot *slot)
{
    struct claim claim;
    if (slot->node->gpus > 0)
        return slot->node->gpus;
    const char *text = intern_text(c->strings, slot->node->claim);
    if (text && claim_parse(text, &claim, NULL) && claim.gpus)
        return (int64_t) claim.gpus;
    const struct node_inventory *said = cluster_inventory(c, slot);
    return said ? said->gpus - said->passed_on : 0;
}

struct fleet_cells fleet_cells_of(struct fleet_reader *r, const struct node_slot *slot)
{
    const struct cluster *c = r->c;
    const struct node_summary *s = &slot->summary;
    const struct node_standing *driver = &s->of[TIER_DRIVER];
    struct fleet_cells ret = { 0 };
    take_labels(r, slot->node, &ret);
    ret.text[FLEET_POOL] = pool_of(c, s);
    ret.text[FLEET_STATE] = node_state_name(s->state);
    ret.text[FLEET_REASON] = reason_of(r, slot);
    ret.text[FLEET_DRIVER] = slot->node->host_driver ? GPU_NODE_HOST_DRIVER
                                                     : driver_of(r, driver->carried);
    ret.text[FLEET_TARGET] = driver_of(r, driver->target);
    ret.number[FLEET_GPUS] = gpus_of(c, slot);
    ret.number[FLEET_USED] = slot->used < ret.number[FLEET_GPUS] ? (int64_t) slot->used
                                                                 : ret.number[FLEET_GPUS];
    ret.number[FLEET_BAD] = cluster_bad_gpus(c, slot);
    ret.number[FLEET_SINCE] = fleet_since_s(c, slot);
    return ret;
}
