#include "sim/actors/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/gpu_recovery.h"
#include "base/mem.h"
#include "base/xid_mild.h"
#include "sim/actors/kubelet.h"

enum {
    XID_LOST = 79,
    VERDICT_BRANCH = 565, /* first driver that logs recovery actions */
    BITS = 64,
};

/* What each kind of fault is, where a scenario says nothing else. */
static const struct spec_gpu_fault presets[SPEC_FAULT_KINDS] = {
    [SPEC_FAULT_PLAIN] = { .cure = SPEC_CURE_RESET },
    [SPEC_FAULT_PROGRAM] = { .xid = 13, .cure = SPEC_CURE_RESET, .lasts_ms = 1 },
    [SPEC_FAULT_PAGE_FAULT] = { .xid = 31, .cure = SPEC_CURE_RESET, .lasts_ms = 1 },
    [SPEC_FAULT_DOUBLE_BIT] = { .xid = 48,
                                .cure = SPEC_CURE_RESET,
                                .recovery = SPEC_RECOVERY_RESET,
                                .remap_pending = true,
                                .double_bit_errors = 1 },
    [SPEC_FAULT_REMAP] = { .xid = 63, .cure = SPEC_CURE_RESET, .remap_pending = true },
    [SPEC_FAULT_NO_REMAP] = { .xid = 64,
                              .cure = SPEC_CURE_REPLACEMENT,
                              .recovery = SPEC_RECOVERY_RESET,
                              .remap_failed = true },
    [SPEC_FAULT_NVLINK] = { .xid = 74,
                            .cure = SPEC_CURE_RESET,
                            .recovery = SPEC_RECOVERY_RESET,
                            .fabric = SPEC_FABRIC_UNHEALTHY },
    [SPEC_FAULT_OFF_THE_BUS] = { .xid = XID_LOST, .cure = SPEC_CURE_REBOOT, .off_the_bus = true },
    [SPEC_FAULT_CONTAINED] = { .xid = 94,
                               .cure = SPEC_CURE_RESET,
                               .recovery = SPEC_RECOVERY_DRAIN_AND_RESET,
                               .remap_pending = true,
                               .double_bit_errors = 1 },
    [SPEC_FAULT_UNCONTAINED] = { .xid = 95,
                                 .cure = SPEC_CURE_RESET,
                                 .recovery = SPEC_RECOVERY_RESET,
                                 .double_bit_errors = 1 },
    [SPEC_FAULT_GSP] = { .xid = 119,
                         .times = 3,
                         .cure = SPEC_CURE_RESET,
                         .recovery = SPEC_RECOVERY_RESET },
    [SPEC_FAULT_NVLINK5] = { .xid = 149,
                             .fatal = true,
                             .cure = SPEC_CURE_RESET,
                             .recovery = SPEC_RECOVERY_RESET },
    [SPEC_FAULT_SRAM] = { .xid = 95,
                          .cure = SPEC_CURE_REPLACEMENT,
                          .recovery = SPEC_RECOVERY_RESET,
                          .sram_exceeded = true },
    [SPEC_FAULT_HANG] = { .cure = SPEC_CURE_REBOOT, .hangs = true },
    [SPEC_FAULT_NVSWITCH] = { .xid = 20034, .nvswitch = true, .cure = SPEC_CURE_REBOOT },
};

/* A number or a choice of which the first means that nothing is said. */
#define PREFER(given, usual) ((given) ? (given) : (usual))

static struct spec_gpu_fault filled_in(const struct spec_gpu_fault *given)
{
    const struct spec_gpu_fault *usual = &presets[given->kind];
    struct spec_gpu_fault f = *given;
    f.xid = PREFER(f.xid, usual->xid);
    f.times = PREFER(f.times, PREFER(usual->times, 1));
    f.cure = PREFER(f.cure, usual->cure);
    f.recovery = PREFER(f.recovery, usual->recovery);
    f.fabric = PREFER(f.fabric, usual->fabric);
    f.double_bit_errors = PREFER(f.double_bit_errors, usual->double_bit_errors);
    /* A sticky error of a program comes again with the next program. */
    f.lasts_ms = f.cure == SPEC_CURE_REPLACEMENT ? f.lasts_ms : PREFER(f.lasts_ms, usual->lasts_ms);
    f.fatal |= usual->fatal;
    f.nvswitch |= usual->nvswitch;
    f.off_the_bus |= usual->off_the_bus;
    f.remap_pending |= usual->remap_pending;
    f.remap_failed |= usual->remap_failed;
    f.sram_exceeded |= usual->sram_exceeded;
    f.hangs |= usual->hangs;
    return f;
}

/* ---- the kernel log and who reads it */

/* Place of the lines with this GPU and number; `line_count`: there are none. */
static size_t gpu_find_line(const struct gpus *g, const struct gpu_line *wanted)
{
    size_t i = 0;
    while (i < g->line_count &&
           !(g->lines[i].gpu == wanted->gpu && g->lines[i].xid == wanted->xid &&
             g->lines[i].nvswitch == wanted->nvswitch))
        i++;
    return i;
}

/* Place of those that make room for new ones: mild ones first, then the oldest. */
static size_t gpu_least_line(const struct gpus *g)
{
    for (size_t i = 0; i < g->line_count; i++)
        if (xid_is_mild(g->lines[i].xid))
            return i;
    return 0;
}

/* The lines with this GPU and number, as the newest. */
static struct gpu_line *line_of(struct gpus *g, const struct gpu_line *wanted)
{
    size_t i = gpu_find_line(g, wanted);
    struct gpu_line line = i < g->line_count ? g->lines[i] : *wanted;
    if (i == GPU_LINES_MAX)
        i = gpu_least_line(g);
    if (i < g->line_count) {
        g->line_count--;
        memmove(&g->lines[i], &g->lines[i + 1], (g->line_count - i) * sizeof g->lines[0]);
    }
    g->lines[g->line_count++] = line;
    return &g->lines[g->line_count - 1];
}

static void log_lines(struct machine *m, const struct gpu_line *what, int times)
{
    int64_t now_us = clock_wall_us(&m->a->sim->clock);
    struct gpu_line *line = line_of(&m->gpu_state, what);
    if (line->count == 0)
        line->first_us = now_us;
    line->count += times;
    line->last_us = now_us;
    line->fatal |= what->fatal;
    line->recovery = what->recovery;
}

/* Xids after which NVIDIA's plugin (0.20.0) goes on giving a GPU out. */
static bool is_ignored_by_plugin(int xid)
{
    static const int ignored[] = { 13, 31, 43, 45, 68, 109 };
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        if (ignored[i] == xid)
            return true;
    return false;
}

static void withhold(struct machine *m, int gpu)
{
    uint64_t bit = UINT64_C(1) << gpu;
    if (!m->plugin || m->gpu_state.withheld & bit)
        return;
    m->gpu_state.withheld |= bit;
    node_note_devices(m);
}

unsigned gpus_driver_branch(const struct machine *m)
{
    return m->module ? (unsigned) strtoul(m->module, NULL, 10) : 0;
}

/* What a driver that is loaded says of a fault when it comes, or when the driver starts. */
static bool driver_reports(struct machine *m, const struct spec_gpu_fault *f)
{
    struct gpu_line line = {
        .gpu = f->gpu, .xid = f->xid, .nvswitch = f->nvswitch, .fatal = f->fatal
    };
    struct gpu_line verdict = { .gpu = f->gpu,
                                .xid = XID_RECOVERY_CHANGED,
                                .recovery = f->recovery };
    bool has_verdict = f->recovery != SPEC_RECOVERY_NONE && gpus_driver_branch(m) >= VERDICT_BRANCH;
    if (f->xid)
        log_lines(m, &line, f->times);
    if (has_verdict)
        log_lines(m, &verdict, 1);
    if (f->xid && !f->nvswitch && !is_ignored_by_plugin(f->xid))
        withhold(m, f->gpu);
    return f->xid || has_verdict;
}

static void appear(struct gpu_trouble *t)
{
    struct machine *m = t->machine;
    if (!m->up)
        return;
    t->told = m->module != NULL;
    bool logged = t->told && driver_reports(m, &t->fault);
    agent_note_fault(m, t->fault.off_the_bus ? SIGN_ON_BUS : logged ? SIGN_IN_LOG : SIGN_OF_NVML);
}

/* ---- faults */

static void trouble_free(struct gpu_trouble *t)
{
    struct gpus *g = &t->machine->gpu_state;
    size_t i = 0;
    while (g->troubles[i] != t)
        i++;
    memmove(&g->troubles[i], &g->troubles[i + 1], (--g->trouble_count - i) * sizeof *g->troubles);
    sim_cancel(t->machine->a->sim, &t->event);
    free(t);
}

/* Whether it is there at the moment. */
static bool is_shown(const struct gpu_trouble *t)
{
    return !t->hidden;
}

/* Its time is over: it goes for a while, or for ever. */
static void leave(void *arg);

static void come_again(void *arg)
{
    struct gpu_trouble *t = arg;
    t->hidden = false;
    t->event.fn = leave;
    sim_after(t->machine->a->sim, &t->event, t->fault.lasts_ms);
    appear(t);
}

static void leave(void *arg)
{
    struct gpu_trouble *t = arg;
    struct machine *m = t->machine;
    enum gpu_sign sign = t->fault.off_the_bus ? SIGN_ON_BUS : SIGN_OF_NVML;
    t->hidden = true;
    t->event.fn = come_again;
    if (t->fault.again_ms)
        sim_after(m->a->sim, &t->event, t->fault.again_ms);
    else
        trouble_free(t);
    agent_note_fault(m, sign);
}

bool gpus_fault(struct machine *m, const struct spec_gpu_fault *fault)
{
    struct gpus *g = &m->gpu_state;
    if (fault->gpu < 0 || fault->gpu >= m->shape->gpus || fault->gpu >= BITS)
        return false;
    struct gpu_trouble *t = xcalloc(1, sizeof *t);
    *t = (struct gpu_trouble){ .machine = m, .fault = filled_in(fault) };
    t->event = (struct sim_event){ .fn = leave, .arg = t };
    if (g->trouble_count == g->trouble_cap) {
        g->trouble_cap = g->trouble_cap ? 2 * g->trouble_cap : 4;
        g->troubles = xreallocarray(g->troubles, g->trouble_cap, sizeof *g->troubles);
    }
    g->troubles[g->trouble_count++] = t;
    if (t->fault.lasts_ms)
        sim_after(m->a->sim, &t->event, t->fault.lasts_ms);
    appear(t);
    return true;
}

/* Ends the faults of a GPU (-1: of all) that this cure or a lesser one ends. */
static void heal(struct machine *m, int gpu, enum spec_cure cure)
{
    struct gpus *g = &m->gpu_state;
    for (size_t i = g->trouble_count; i-- > 0;)
        if (g->troubles[i]->fault.cure <= cure && (gpu < 0 || g->troubles[i]->fault.gpu == gpu))
            trouble_free(g->troubles[i]);
}

void gpus_reset(struct machine *m, int gpu)
{
    struct gpus *g = &m->gpu_state;
    heal(m, gpu, SPEC_CURE_RESET);
    for (size_t i = 0; !m->module && i < g->trouble_count; i++)
        if (gpu < 0 || g->troubles[i]->fault.gpu == gpu)
            g->troubles[i]->told = false;
    agent_note_fault(m, SIGN_OF_NVML);
}

void gpus_replace(struct machine *m, int gpu)
{
    machine_off(m);
    heal(m, gpu, SPEC_CURE_REPLACEMENT);
    machine_on(m, false);
}

void gpus_off(struct machine *m)
{
    struct gpus *g = &m->gpu_state;
    g->line_count = 0;
    g->withheld = 0;
    for (size_t i = 0; i < g->trouble_count; i++)
        g->troubles[i]->told = false;
}

void gpus_boot(struct machine *m)
{
    heal(m, -1, SPEC_CURE_REBOOT);
}

/* A driver that does not find a GPU when it starts logs that, and NVML does not know the GPU. */
void gpus_driver_starts(struct machine *m)
{
    struct gpus *g = &m->gpu_state;
    for (size_t i = 0; i < g->trouble_count; i++) {
        struct gpu_trouble *t = g->troubles[i];
        t->unknown = is_shown(t) && t->fault.off_the_bus;
        if (is_shown(t) && !t->told)
            appear(t);
    }
}

bool gpus_may_boot(const struct machine *m)
{
    for (size_t i = 0; i < m->gpu_state.trouble_count; i++)
        if (m->gpu_state.troubles[i]->fault.no_boot)
            return false;
    return true;
}

int gpus_found(struct machine *m)
{
    int found = 0;
    m->gpu_state.withheld = 0;
    for (int i = 0; i < m->gpus; i++)
        found += !gpus_is_silent(m, i);
    return found;
}

int64_t gpus_withheld(const struct machine *m)
{
    int64_t count = m->plugin ? __builtin_popcountll(m->gpu_state.withheld) : 0;
    return count < m->devices ? count : m->devices;
}

uint64_t gpus_faulty(const struct machine *m)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < m->gpu_state.trouble_count; i++)
        if (is_shown(m->gpu_state.troubles[i]))
            bits |= UINT64_C(1) << m->gpu_state.troubles[i]->fault.gpu;
    return bits;
}

void gpus_clear(struct machine *m)
{
    while (m->gpu_state.trouble_count > 0)
        trouble_free(m->gpu_state.troubles[m->gpu_state.trouble_count - 1]);
    free(m->gpu_state.troubles);
}
