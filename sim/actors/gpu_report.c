/* What an agent reports of the faults of GPUs: by NVML, and by the kernel log. */
#include "sim/actors/gpu.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/xid_mild.h"
#include "sim/actors/kubelet.h"

enum {
    FIRST_GPU_BUS = 0x17,
    NVSWITCH_BUS = 0xc1,
    NVLINK5_FIRST = 144,
    NVLINK5_LAST = 150,
    RECOVERY_BRANCH = 570, /* first driver of which NVML reports recovery actions */
};

static const struct {
    const char *name;
    int rank;
} recoveries[] = {
#define X(id, name, rank) { name, rank },
    SPEC_RECOVERIES(X)
#undef X
};

static const char *const fabrics[] = {
#define X(id, name) name,
    SPEC_FABRICS(X)
#undef X
};

static json_t *address_on(int bus)
{
    return json_textf("0000:%02x:00.0", (unsigned) bus);
}

json_t *gpus_address(int gpu)
{
    return address_on(FIRST_GPU_BUS + gpu);
}

int gpus_at(const struct machine *m, const char *address)
{
    for (int i = 0; i < m->gpus; i++) {
        CLEANUP_JSON json_t *is = gpus_address(i);
        if (str_eq(json_string_value(is), address))
            return i;
    }
    return -1;
}

/* A fault of a GPU that is there at the moment; NULL: none after `*i`. */
static const struct gpu_trouble *next_of(const struct machine *m, int gpu, size_t *i)
{
    const struct gpus *g = &m->gpu_state;
    while (*i < g->trouble_count) {
        const struct gpu_trouble *t = g->troubles[(*i)++];
        if (t->fault.gpu == gpu && !t->hidden)
            return t;
    }
    return NULL;
}

bool gpus_is_silent(const struct machine *m, int gpu)
{
    const struct gpu_trouble *t;
    for (size_t i = 0; (t = next_of(m, gpu, &i)) != NULL;)
        if (t->fault.off_the_bus)
            return true;
    return false;
}

/* All faults of a GPU together. */
static struct gpu_trouble sum_of(const struct machine *m, int gpu)
{
    struct gpu_trouble sum = { 0 };
    struct spec_gpu_fault *f = &sum.fault;
    const struct gpu_trouble *t;
    for (size_t i = 0; (t = next_of(m, gpu, &i)) != NULL;) {
        f->off_the_bus |= t->fault.off_the_bus;
        sum.unknown |= t->unknown;
        f->hangs |= t->fault.hangs;
        f->remap_pending |= t->fault.remap_pending;
        f->remap_failed |= t->fault.remap_failed;
        f->sram_exceeded |= t->fault.sram_exceeded;
        f->double_bit_errors += t->fault.double_bit_errors;
        if (t->fault.fabric > f->fabric)
            f->fabric = t->fault.fabric;
        if (recoveries[t->fault.recovery].rank > recoveries[f->recovery].rank)
            f->recovery = t->fault.recovery;
    }
    return sum;
}

/* A GPU that answers NVML. A fabric that is well is not reported: most machines have none. */
static json_t *health_of(const struct machine *m, int gpu, bool divided,
                         const struct spec_gpu_fault *f)
{
    json_t *row = json_pack("{s:o, s:o, s:i, s:b}", "address", gpus_address(gpu), "serial",
                            json_textf("16512%05d%03d", m->number, gpu), "doubleBitErrors",
                            f->double_bit_errors, "sramExceeded", f->sram_exceeded);
    if (gpus_driver_branch(m) >= RECOVERY_BRANCH)
        json_object_set_new(row, "recovery", json_string(recoveries[f->recovery].name));
    /* NVML knows no rows of a GPU with MIG instances. */
    if (!divided) {
        json_object_set_new(row, "remapPending", json_boolean(f->remap_pending));
        json_object_set_new(row, "remapFailed", json_boolean(f->remap_failed));
    }
    if (f->fabric != SPEC_FABRIC_HEALTHY)
        json_object_set_new(row, "fabric", json_string(fabrics[f->fabric]));
    return row;
}

/* What NVML says of a GPU; NULL: it does not know it. */
static json_t *row_of(const struct machine *m, int gpu, bool divided)
{
    struct gpu_trouble sum = sum_of(m, gpu);
    if (sum.unknown)
        return NULL;
    if (sum.fault.hangs)
        return json_pack("{s:o, s:b}", "address", gpus_address(gpu), "hangs", 1);
    if (sum.fault.off_the_bus)
        return json_pack("{s:o, s:b}", "address", gpus_address(gpu), "lost", 1);
    return health_of(m, gpu, divided, &sum.fault);
}

json_t *gpus_health(const struct machine *m)
{
    bool asked = m->shape->gpu_health || spec_has_faults(&m->a->world);
    if (!asked || !m->module)
        return NULL;
    bool divided = machine_is_divided(m);
    json_t *rows = json_array();
    for (int i = 0; i < (divided ? m->gpus > 0 : m->gpus); i++) {
        json_t *row = row_of(m, i, divided);
        if (row)
            json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *fault_of(const struct machine *m, const struct gpu_line *line)
{
    char first[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];
    clock_rfc3339(line->first_us, first);
    clock_rfc3339(line->last_us, last);
    json_t *row = json_pack("{s:o, s:i, s:I, s:s, s:s, s:s}", "address",
                            line->nvswitch ? address_on(NVSWITCH_BUS) : gpus_address(line->gpu),
                            "xid", line->xid, "count", (json_int_t) line->count, "first", first,
                            "last", last, "bootId", m->boot_id);
    if (line->nvswitch)
        json_object_set_new(row, "nvswitch", json_true());
    if (!line->nvswitch && line->xid >= NVLINK5_FIRST && line->xid <= NVLINK5_LAST)
        json_object_set_new(row, "fatal", json_boolean(line->fatal));
    if (line->recovery != SPEC_RECOVERY_NONE)
        json_object_set_new(row, "recovery", json_string(recoveries[line->recovery].name));
    return row;
}

/* The smaller, the sooner it makes room for others. */
static int worth(const struct machine *m, const json_t *row)
{
    bool earlier = !str_eq(json_str(row, "bootId"), m->boot_id);
    return earlier ? 0 : xid_is_mild(json_int(row, "xid", 0)) ? 1 : 2;
}

static void drop_least(const struct machine *m, json_t *rows)
{
    size_t least = 0;
    for (size_t i = 1; i < json_array_size(rows); i++)
        if (worth(m, json_array_get(rows, i)) < worth(m, json_array_get(rows, least)))
            least = i;
    json_array_remove(rows, least);
}

json_t *gpus_faults(const struct machine *m, const json_t *before)
{
    json_t *rows = json_array();
    JSON_EACH (row, before)
        if (!str_eq(json_str(row, "bootId"), m->boot_id))
            json_array_append_new(rows, json_deep_copy(row));
    for (size_t i = 0; i < m->gpu_state.line_count; i++)
        json_array_append_new(rows, fault_of(m, &m->gpu_state.lines[i]));
    while (json_array_size(rows) > GPU_LINES_MAX)
        drop_least(m, rows);
    return rows;
}
