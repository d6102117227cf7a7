#include "node/nvml/health.h"

#include <stdio.h>
#include <string.h>

#include "node/nvml/library.h"

/* NVML_DEVICE_SERIAL_BUFFER_SIZE. */
enum { SERIAL_SIZE = 30, WORD_SIZE = 64 };

/* By nvmlDeviceGpuRecoveryAction_t, and by NVML_GPU_FABRIC_HEALTH_SUMMARY_*. */
static const char *const recoveries[] = { "None",       "Reset",         "Reboot",
                                          "DrainPeers", "DrainAndReset", "RecoverDomain" };
static const char *const fabrics[] = { NULL, "Healthy", "Unhealthy", "Limited" };

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

struct health {
    char line[HEALTH_LINE_MAX];
    void *device;
    bool lost, needs_reset;
    const char *recovery; /* NULL: not known */
};

static void add(struct health *h, const char *key, const char *value)
{
    size_t len = strlen(h->line);
    if (value)
        snprintf(h->line + len, sizeof h->line - len, " %s=%s", key, value);
}

static void add_flag(struct health *h, const char *key, unsigned value)
{
    add(h, key, value ? "true" : "false");
}

/* Whether a call succeeded. Any call can report that the GPU is lost or needs a reset. */
static bool succeeded(struct health *h, int result)
{
    h->lost |= result == NVML_GPU_IS_LOST;
    h->needs_reset |= result == NVML_RESET_REQUIRED;
    return result == NVML_SUCCESS;
}

static void ask_serial(struct health *h)
{
    char serial[SERIAL_SIZE + 1] = "";
    if (nvmlDeviceGetSerial && succeeded(h, nvmlDeviceGetSerial(h->device, serial, SERIAL_SIZE)) &&
        serial[0])
        add(h, "serial", serial);
}

static const char *recovery_of(const struct nvml_field *f)
{
    unsigned long long action = f->type == VALUE_UNSIGNED_INT ? f->value.narrow : f->value.wide;
    bool is_number = f->type >= VALUE_UNSIGNED_INT && f->type <= VALUE_UNSIGNED_LONG_LONG;
    return is_number && action < COUNT_OF(recoveries) ? recoveries[action] : NULL;
}

static void ask_recovery(struct health *h)
{
    struct nvml_field field = { .id = FIELD_RECOVERY };
    if (nvmlDeviceGetFieldValues && succeeded(h, nvmlDeviceGetFieldValues(h->device, 1, &field)) &&
        succeeded(h, field.result))
        h->recovery = recovery_of(&field);
}

/* A GPU that is divided into MIG instances does not support it. */
static void ask_remapped_rows(struct health *h)
{
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (!nvmlDeviceGetRemappedRows ||
        !succeeded(
            h, nvmlDeviceGetRemappedRows(h->device, &corrected, &uncorrected, &pending, &failed)))
        return;
    add_flag(h, "remapPending", pending);
    add_flag(h, "remapFailed", failed);
}

static void ask_ecc(struct health *h)
{
    unsigned long long errors = 0;
    char count[WORD_SIZE];
    if (!nvmlDeviceGetTotalEccErrors ||
        !succeeded(h, nvmlDeviceGetTotalEccErrors(h->device, UNCORRECTED, VOLATILE, &errors)))
        return;
    snprintf(count, sizeof count, "%llu", errors);
    add(h, "doubleBitErrors", count);
}

/* The library may report it only to root. */
static void ask_sram(struct health *h)
{
    struct nvml_sram sram = { .version = SRAM_VERSION };
    if (nvmlDeviceGetSramEccErrorStatus &&
        succeeded(h, nvmlDeviceGetSramEccErrorStatus(h->device, &sram)))
        add_flag(h, "sramExceeded", sram.exceeded);
}

/* Its probe may complete with an error: then no summary counts. */
static const char *fabric_of(const struct nvml_fabric *f)
{
    if (f->state != FABRIC_COMPLETED)
        return NULL;
    if (f->result != NVML_SUCCESS)
        return "Unhealthy";
    return f->summary < COUNT_OF(fabrics) ? fabrics[f->summary] : NULL;
}

static void ask_fabric(struct health *h)
{
    struct nvml_fabric fabric = { .version = FABRIC_VERSION };
    if (nvmlDeviceGetGpuFabricInfoV &&
        succeeded(h, nvmlDeviceGetGpuFabricInfoV(h->device, &fabric)))
        add(h, "fabric", fabric_of(&fabric));
}

/* A call that a GPU refuses until it is reset says more than "None". */
static const char *recovery_by_calls(const struct health *h)
{
    bool asks_for_more = h->recovery && strcmp(h->recovery, recoveries[0]) != 0;
    return h->needs_reset && !asks_for_more ? "Reset" : h->recovery;
}

bool health_describe(const char *address, int result, void *device,
                     char ret[static HEALTH_LINE_MAX])
{
    struct health h = { .device = device };
    snprintf(h.line, sizeof h.line, "health %s", address);
    bool known = succeeded(&h, result);
    if (known) {
        ask_serial(&h);
        ask_recovery(&h);
        ask_remapped_rows(&h);
        ask_ecc(&h);
        ask_sram(&h);
        ask_fabric(&h);
    }
    add(&h, "recovery", recovery_by_calls(&h));
    add(&h, "lost", h.lost ? "true" : NULL);
    snprintf(ret, HEALTH_LINE_MAX, "%.*s\n", HEALTH_LINE_MAX - 2, h.line);
    return known || h.lost || h.needs_reset;
}
