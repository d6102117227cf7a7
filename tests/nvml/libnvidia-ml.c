/* A library that stands in for the driver's NVML. How it behaves is the last name of the path in
 * LD_LIBRARY_PATH: tests put a link to it into a folder of that name.
 *
 * The file "script" in that folder changes the health of its GPUs. Each line is about one GPU:
 *
 *     0 FIELD_230=1@5;RESET_REQUIRED@10;HANG@20;HANG=0@30
 *
 * A rule has a value, by default 1, and counts from some seconds after the time of the file, by
 * default 0; of several with one name the last that counts decides. Without a rule a fact is not
 * supported. The names are those of `facts`.
 *
 * OLD: a library of R525, which lacks later functions. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    GPU_IS_LOST = 15,
    RESET_REQUIRED = 16,
    VERSION_MISMATCH = 25,
    UNKNOWN = 999,
    CARDS = 2,
    DEVICES_OF_ONE = 7,
    FLOOD = 64,
    FIRST_BUS = 0x10,
    LINE_MAX_LEN = 512
};

/* The names in a script: what field 230 has, and of which type of nvmlValueType_t (1: unsigned
 * int); the serial number; rows of memory; uncorrectable errors; errors of SRAM, -1: for root only;
 * the summary of the fabric's health, the state of its probe (3: completed) and the probe's result;
 * what every call returns; a call that does not return, without a word or printing empty lines. */
static const char *const facts[] = { "FIELD_230",     "TYPE_230",     "SERIAL",
                                     "REMAP_PENDING", "REMAP_FAILED", "ECC",
                                     "SRAM",          "FABRIC",       "FABRIC_STATE",
                                     "FABRIC_STATUS", "GPU_IS_LOST",  "RESET_REQUIRED",
                                     "HANG",          "SLOW",         "HANDLE_UNKNOWN" };

/* Layouts as in gen/nvml/nvml.h of github.com/NVIDIA/go-nvml at 8b8585b. */
struct pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct field_value {
    unsigned field_id, scope_id;
    long long timestamp, latency_us;
    unsigned value_type;
    int nvml_return;
    unsigned long long value;
};

struct sram_status {
    unsigned version;
    unsigned long long aggregate[3], volatiles[3], buckets[5];
    unsigned threshold_exceeded;
};

struct fabric_info {
    unsigned version;
    unsigned char cluster_uuid[16];
    int status;
    unsigned clique_id;
    unsigned char state;
    unsigned health_mask;
    unsigned char health_summary;
};

_Static_assert(sizeof(struct pci_info) == 68 && sizeof(struct field_value) == 40 &&
                   sizeof(struct sram_status) == 104 && sizeof(struct fabric_info) == 40,
               "NVIDIA's layouts");

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret);
int nvmlSystemGetDriverVersion(char *ret, unsigned size);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *ret);
int nvmlDeviceGetUUID(void *device, char *ret, unsigned size);
int nvmlDeviceGetName(void *device, char *ret, unsigned size);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3]);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later);
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret);
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret);
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *ret);
int nvmlDeviceGetSerial(void *device, char *ret, unsigned size);
int nvmlDeviceGetFieldValues(void *device, int count, struct field_value *ret);
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
                              unsigned *pending, unsigned *failed);
int nvmlDeviceGetSramEccErrorStatus(void *device, struct sram_status *ret);
int nvmlDeviceGetGpuFabricInfoV(void *device, struct fabric_info *ret);

/* A card, or a MIG device of the first one. */
struct device {
    unsigned number;
    bool is_mig;
};

static struct device cards[FLOOD];
static struct device instances[DEVICES_OF_ONE];

static bool behaves(const char *how)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    const char *name = path ? strrchr(path, '/') : NULL;
    return name && strcmp(name + 1, how) == 0;
}

/* ---- the script */

/* Seconds since the script was written; its text in `line` is that of one GPU. False: no such
 * line. */
static bool script_of(unsigned gpu, char line[LINE_MAX_LEN], double *ret_s)
{
    const char *folder = getenv("LD_LIBRARY_PATH");
    char path[LINE_MAX_LEN];
    struct stat st;
    struct timespec now;
    bool found = false;
    snprintf(path, sizeof path, "%s/script", folder ? folder : "");
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &st) != 0)
        return false;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_s = (double) (now.tv_sec - st.st_mtim.tv_sec) +
             (double) (now.tv_nsec - st.st_mtim.tv_nsec) / 1e9;
    while (!found && fgets(line, LINE_MAX_LEN, file)) {
        char *rest;
        found = strtoul(line, &rest, 10) == gpu && rest != line;
        if (found)
            memmove(line, rest, strlen(rest) + 1);
    }
    fclose(file);
    return found;
}

/* A script with a name that is none would test nothing. */
static void check_name(const char *name)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i], name) == 0)
            return;
    fprintf(stderr, "script: no such fact: %s\n", name);
    abort();
}

/* Whether a fact has a value now. */
static bool says(const struct device *d, const char *fact, long long *ret)
{
    char line[LINE_MAX_LEN], *left = NULL;
    double elapsed_s = 0;
    bool known = false;
    if (!script_of(d->number, line, &elapsed_s))
        return false;
    for (char *rule = strtok_r(line, " ;\n", &left); rule; rule = strtok_r(NULL, " ;\n", &left)) {
        char *at = strchr(rule, '@'), *value = strchr(rule, '=');
        double from_s = at ? strtod(at + 1, NULL) : 0;
        long long number = value ? strtoll(value + 1, NULL, 10) : 1;
        rule[strcspn(rule, "@=")] = '\0';
        check_name(rule);
        if (strcmp(rule, fact) != 0 || elapsed_s < from_s)
            continue;
        known = true;
        *ret = number;
    }
    return known;
}

static long long value_of(const struct device *d, const char *fact, long long otherwise)
{
    says(d, fact, &otherwise);
    return otherwise;
}

/* What any call about a device returns before it does anything. */
static int state_of(const struct device *d)
{
    while (value_of(d, "HANG", 0))
        usleep(1000);
    while (value_of(d, "SLOW", 0))
        if (usleep(20 * 1000) != 0 || write(STDOUT_FILENO, "\n", 1) < 0)
            _exit(0);
    if (value_of(d, "GPU_IS_LOST", 0))
        return GPU_IS_LOST;
    return value_of(d, "RESET_REQUIRED", 0) ? RESET_REQUIRED : SUCCESS;
}

/* ---- the library */

int nvmlInit_v2(void)
{
    if (behaves("crashes"))
        raise(SIGSEGV);
    if (behaves("refuses"))
        return UNKNOWN;
    while (behaves("hangs"))
        pause();
    /* A child that outlives it keeps the pipe open. */
    if (behaves("leaves-a-child") && fork() == 0)
        for (;;)
            pause();
    /* A child that a signal to the process group does not reach. */
    if (behaves("leaves-a-session") && fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    char name[16] = "";
    if (behaves("looks-at-its-name") &&
        (prctl(PR_GET_NAME, name) != 0 || strcmp(name, "ostler-nvml") != 0))
        return UNKNOWN;
    if (behaves("breaks-out") && chroot(".") == 0)
        return UNKNOWN;
    while (behaves("talks"))
        if (write(STDOUT_FILENO, "card GPU-0 1\n", 13) < 0)
            _exit(0);
    while (behaves("drips"))
        if (usleep(20 * 1000) != 0 || write(STDOUT_FILENO, "\n", 1) < 0)
            _exit(0);
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = behaves("lies") ? ~0U : CARDS;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
    if (index >= FLOOD)
        return NOT_FOUND;
    cards[index].number = index;
    *ret = &cards[index];
    if (value_of(&cards[index], "HANDLE_UNKNOWN", 0))
        return UNKNOWN;
    /* A GPU that needs a reset has a handle. */
    int state = state_of(&cards[index]);
    return state == RESET_REQUIRED ? SUCCESS : state;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret)
{
    unsigned domain, bus, device, function;
    if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return INVALID_ARGUMENT;
    if (domain || device || function || bus < FIRST_BUS || bus >= FIRST_BUS + CARDS)
        return NOT_FOUND;
    return nvmlDeviceGetHandleByIndex_v2(bus - FIRST_BUS, ret);
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *ret)
{
    const struct device *d = device;
    *ret = (struct pci_info){ .bus = FIRST_BUS + d->number };
    snprintf(ret->bus_id, sizeof ret->bus_id, "%08X:%02X:%02X.0", 0, ret->bus, 0);
    return SUCCESS;
}

/* By the names that the CUDA library beside it has for its cards. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret)
{
    return nvmlDeviceGetHandleByIndex_v2(
        strcmp(uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f") == 0, ret);
}

int nvmlSystemGetDriverVersion(char *ret, unsigned size)
{
    snprintf(ret, size, "570.211.01");
    return SUCCESS;
}

/* Counted since the driver was loaded. */
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *ret)
{
    const struct device *d = device;
    if (state_of(d) != SUCCESS)
        return state_of(d);
    *ret = (unsigned long long) value_of(d, "ECC", 3 + type - (int) d->number);
    return counter == 0 && d->number < CARDS ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetUUID(void *device, char *ret, unsigned size)
{
    const struct device *d = device;
    if (behaves("lies"))
        memset(ret, '\n', size); /* and no end */
    else
        snprintf(ret, size, d->is_mig ? "MIG-%u" : "GPU-%u", d->number);
    if (behaves("crashes-late") && d->number == 1)
        raise(SIGABRT);
    return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *ret, unsigned size)
{
    const struct device *d = device;
    snprintf(ret, size, d->is_mig ? "NVIDIA A100-SXM4-40GB MIG 1g.5gb" : "NVIDIA A100-SXM4-40GB");
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
    (void) device;
    ret[0] = behaves("lies") ? ~0ULL : 40960ULL << 20;
    return SUCCESS;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    const struct device *d = device;
    *now = *later = d->number == 0;
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret)
{
    (void) device;
    *ret = DEVICES_OF_ONE;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret)
{
    (void) device;
    if (index % 3 == 2)
        return NOT_FOUND;
    instances[index] = (struct device){ index, true };
    *ret = &instances[index];
    return SUCCESS;
}

/* ---- health */

int nvmlDeviceGetSerial(void *device, char *ret, unsigned size)
{
    const struct device *d = device;
    long long serial = 0;
    if (behaves("lies"))
        memset(ret, '\n', size);
    else if (says(d, "SERIAL", &serial))
        snprintf(ret, size, "%lld", serial);
    return behaves("lies") || serial ? state_of(d) : NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(void *device, int count, struct field_value *ret)
{
    const struct device *d = device;
    long long value = 0;
    for (int i = 0; i < count; i++) {
        bool known = ret[i].field_id == 230 && says(d, "FIELD_230", &value);
        ret[i].value_type = (unsigned) value_of(d, "TYPE_230", 1);
        /* The library leaves the rest of the union as it was. */
        ret[i].value = ret[i].value_type == 1 ? 0xffffffff00000000 | (unsigned) value
                                              : (unsigned long long) value;
        ret[i].nvml_return = known ? SUCCESS : NOT_SUPPORTED;
    }
    return value_of(d, "GPU_IS_LOST", 0) ? GPU_IS_LOST : SUCCESS;
}

/* Not supported while a GPU has MIG instances. */
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
                              unsigned *pending, unsigned *failed)
{
    const struct device *d = device;
    long long value = 0;
    if (state_of(d) != SUCCESS)
        return state_of(d);
    if (d->number == 0 || !says(d, "REMAP_PENDING", &value))
        return NOT_SUPPORTED;
    *corrected = *uncorrected = *pending = (unsigned) value;
    *failed = (unsigned) value_of(d, "REMAP_FAILED", 0);
    return SUCCESS;
}

#ifndef OLD
int nvmlDeviceGetSramEccErrorStatus(void *device, struct sram_status *ret)
{
    const struct device *d = device;
    long long value = 0;
    if (ret->version != (sizeof *ret | 1 << 24))
        return VERSION_MISMATCH;
    if (!says(d, "SRAM", &value))
        return NOT_SUPPORTED;
    ret->volatiles[0] = ret->buckets[0] = 7;
    ret->threshold_exceeded = value > 0;
    return value < 0 ? NO_PERMISSION : state_of(d);
}

int nvmlDeviceGetGpuFabricInfoV(void *device, struct fabric_info *ret)
{
    const struct device *d = device;
    long long value = 0;
    if (ret->version != (sizeof *ret | 3 << 24))
        return VERSION_MISMATCH;
    if (!says(d, "FABRIC", &value))
        return NOT_SUPPORTED;
    ret->state = (unsigned char) value_of(d, "FABRIC_STATE", 3);
    ret->status = (int) value_of(d, "FABRIC_STATUS", SUCCESS);
    ret->health_summary = (unsigned char) value;
    return state_of(d);
}
#endif
