/* Which faults come, how often, and what each way's rules make of them. */
#include <stdlib.h>

#include "tests/year/year.h"

/* Of a hundred faults that break a GPU so many end only with another GPU. */
#define STICKY 10

/* Weights: those of the simulator's usual mix (sim/actors/fault_rows.h), without NVLink 5 and
 * NVSwitches, and with an Xid 109 after which the driver needs nothing.
 *
 * NVSentinel (rupalis-nv/NVSentinel@0f60731, v1.14): a fatal event of the kernel log or of DCGM
 * cordons (distros/kubernetes/nvsentinel/charts/fault-quarantine/values.yaml, ruleSets). Fatal is
 * every action but NONE (health-monitors/syslog-health-monitor/pkg/xid/xid_handler.go,
 * determineFatality). Actions of Xids come from NVIDIA's catalogue, of Xid 154 from its text
 * (…/pkg/common/common.go, MapActionStringToProto; …/pkg/xid/parser/csv.go,
 * getRecommendedActionForXid), those of DCGM from
 * …/charts/gpu-health-monitor/files/dcgmerrorsmapping.csv (PENDING_ROW_REMAP: COMPONENT_RESET,
 * ROW_REMAP_FAILURE and SRAM_THRESHOLD: CONTACT_SUPPORT). COMPONENT_RESET reboots the node
 * (…/charts/fault-remediation/values.yaml, maintenance.actions); CONTACT_SUPPORT has no action.
 *
 * EKS (aws/eks-node-monitoring-agent@51af549): WellKnownXidCodes in
 * monitors/nvidia/dcgm/dcgm_policies.go, NvidiaDoubleBitError and DCGMError in
 * pkg/reasons/reasons.yaml are fatal: AcceleratedHardwareReady is False, and the node is replaced
 * (user guide, "Automatically repair nodes"). */
#define KIND(name_) .name = (name_)
const struct year_kind year_kinds[] = {
    { KIND("13, error of a program"), 30, { .kind = SPEC_FAULT_PROGRAM } },
    { KIND("31, page fault of a program"), 30, { .kind = SPEC_FAULT_PAGE_FAULT } },
    { KIND("109, and the driver needs nothing"),
      4,
      { .kind = SPEC_FAULT_PLAIN, .xid = 109, .lasts_ms = 1 },
      .kills = true,
      .nvsentinel = REPLY_REBOOT,
      .eks = REPLY_REPLACE },
    { KIND("63, row remap waits for a reset"),
      12,
      { .kind = SPEC_FAULT_REMAP },
      .hardware = true,
      .nvsentinel = REPLY_REBOOT,
      .eks = REPLY_REPLACE },
    { KIND("94, contained memory error"),
      10,
      { .kind = SPEC_FAULT_CONTAINED },
      .hardware = true,
      .kills = true,
      .nvsentinel = REPLY_REBOOT,
      .eks = REPLY_REPLACE },
#define BREAKS(name_, weight_, kind_, nvsentinel_)                                                 \
    {                                                                                              \
        KIND(name_), weight_, { .kind = SPEC_FAULT_##kind_ },                                      \
            .hardware = true, .breaks = true, .kills = true, .nvsentinel = REPLY_##nvsentinel_,    \
            .eks = REPLY_REPLACE                                                                   \
    }
    BREAKS("48, double-bit error", 6, DOUBLE_BIT, REBOOT),
    BREAKS("64, row remap failed", 2, NO_REMAP, PERSON),
    BREAKS("74, NVLink", 7, NVLINK, REBOOT),
    /* With a lost GPU every allocation on the node fails: NVIDIA/k8s-device-plugin#2038. */
    { KIND("79, off the bus"),
      14,
      { .kind = SPEC_FAULT_OFF_THE_BUS },
      .hardware = true,
      .breaks = true,
      .kills = true,
      .spreads = true,
      .nvsentinel = REPLY_REBOOT,
      .eks = REPLY_REPLACE },
    BREAKS("95, uncontained memory error", 6, UNCONTAINED, REBOOT),
    BREAKS("119, GSP", 8, GSP, REBOOT),
    BREAKS("95, too many SRAM errors", 2, SRAM, PERSON),
    BREAKS("none, NVML does not answer", 2, HANG, PERSON),
};
const size_t year_kind_count = sizeof year_kinds / sizeof *year_kinds;

static const struct year_kind *faults_pick(struct rng *r, int weights)
{
    int left = (int) rng_below(r, (uint64_t) weights);
    const struct year_kind *k = year_kinds;
    while (left >= k->weight)
        left -= k++->weight;
    return k;
}

static int by_time(const void *one, const void *other)
{
    const struct year_fault *a = one, *b = other;
    return a->at_ms < b->at_ms ? -1 : a->at_ms > b->at_ms;
}

struct year_fault *year_faults(const struct year_options *o, int64_t from_ms, int64_t to_ms,
                               size_t *ret_count)
{
    struct rng r = rng_of(o->seed);
    int weights = 0, hardware = 0;
    for (size_t i = 0; i < year_kind_count; i++) {
        weights += year_kinds[i].weight;
        hardware += year_kinds[i].hardware ? year_kinds[i].weight : 0;
    }
    double gpu_days = (double) o->nodes * GPUS * (double) (to_ms - from_ms) / (double) DAY_MS;
    *ret_count = (size_t) (gpu_days * (double) o->rate / 1e6 * weights / hardware + 0.5);
    struct year_fault *faults = xcalloc(*ret_count + 1, sizeof *faults);
    for (size_t i = 0; i < *ret_count; i++) {
        struct year_fault *f = &faults[i];
        *f = (struct year_fault){ .at_ms = rng_between(&r, from_ms, to_ms - 1),
                                  .node = rng_below(&r, o->nodes),
                                  .kind = faults_pick(&r, weights),
                                  .gpu = (int) rng_below(&r, GPUS),
                                  .sticky = rng_below(&r, 100) < STICKY,
                                  .seed = rng_next(&r) };
        f->sticky = f->sticky && f->kind->breaks;
    }
    qsort(faults, *ret_count, sizeof *faults, by_time);
    return faults;
}
