/* NVML of a machine whose kernel is a folder: what NVIDIA's own programs ask of it, answered from the cards on the bus, where
 * the test has left a UUID beside what sysfs has. The library's name has the version of the driver, as NVIDIA's has. Layouts are
 * those of nvml.h of github.com/NVIDIA/go-nvml v0.13.3-1; `LD_DEBUG=symbols nvidia-device-plugin` lists what is asked. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, TIMEOUT = 10 };
enum { CARDS_MAX = 16, UUID_MAX = 80, ADDRESS_MAX = 32, COMPUTE_MAJOR = 9, ARCHITECTURE_HOPPER = 9, BRAND_NVIDIA = 14 };
enum { TOPOLOGY_INTERNAL = 0, TOPOLOGY_SYSTEM = 50 };

#define BUS "/sys/bus/pci/devices"

struct card {
    char address[ADDRESS_MAX], uuid[UUID_MAX];
    unsigned index;
};

struct pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

static struct card cards[CARDS_MAX];
static unsigned count;

static int read_line(const char *path, char *ret, int size)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NOT_FOUND;
    char *line = fgets(ret, size, file);
    fclose(file);
    if (!line)
        return NOT_FOUND;
    ret[strcspn(ret, "\n")] = '\0';
    return SUCCESS;
}

static int is_card(const struct dirent *entry)
{
    char path[512];
    snprintf(path, sizeof path, BUS "/%s/uuid", entry->d_name);
    return access(path, R_OK) == 0;
}

static int look(void)
{
    struct dirent **names;
    int n = scandir(BUS, &names, is_card, alphasort);
    for (int i = 0; i < n; i++) {
        char path[512];
        struct card *card = &cards[i % CARDS_MAX];
        snprintf(path, sizeof path, BUS "/%s/uuid", names[i]->d_name);
        snprintf(card->address, sizeof card->address, "%.31s", names[i]->d_name);
        card->index = (unsigned) i;
        if (read_line(path, card->uuid, sizeof card->uuid) != SUCCESS)
            card->uuid[0] = '\0';
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    count = n < 0 ? 0 : n > CARDS_MAX ? CARDS_MAX : (unsigned) n;
    return access("/sys/module/nvidia/refcnt", F_OK) == 0 ? SUCCESS : DRIVER_NOT_LOADED;
}

int nvmlInit_v2(void) { return look(); }
int nvmlInitWithFlags(unsigned flags) { (void) flags; return look(); }
int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int error)
{
    switch (error) {
    case SUCCESS: return "Success";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case TIMEOUT: return "Timeout";
    default: return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *ret, unsigned size)
{
    return read_line("/sys/module/nvidia/version", ret, (int) size);
}

int nvmlSystemGetCudaDriverVersion(int *ret) { *ret = 13000; return SUCCESS; }
int nvmlSystemGetCudaDriverVersion_v2(int *ret) { *ret = 13000; return SUCCESS; }
int nvmlSystemGetNVMLVersion(char *ret, unsigned size) { return nvmlSystemGetDriverVersion(ret, size); }
int nvmlDeviceGetCount_v2(unsigned *ret) { *ret = count; return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
    if (index >= count)
        return INVALID_ARGUMENT;
    *ret = &cards[index];
    return SUCCESS;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(cards[i].uuid, uuid) == 0) {
            *ret = &cards[i];
            return SUCCESS;
        }
    return NOT_FOUND;
}

/* NVML writes eight digits of a domain, sysfs four. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret)
{
    for (unsigned i = 0; i < count; i++)
        if (strcasestr(address, cards[i].address)) {
            *ret = &cards[i];
            return SUCCESS;
        }
    return NOT_FOUND;
}

static int put(char *ret, unsigned size, const char *text)
{
    snprintf(ret, size, "%s", text);
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *ret, unsigned size) { return put(ret, size, ((struct card *) device)->uuid); }
int nvmlDeviceGetName(void *device, char *ret, unsigned size) { (void) device; return put(ret, size, "NVIDIA H100 80GB HBM3"); }
int nvmlDeviceGetSerial(void *device, char *ret, unsigned size) { (void) device; return put(ret, size, "1650000000000"); }
int nvmlDeviceGetIndex(void *device, unsigned *ret) { *ret = ((struct card *) device)->index; return SUCCESS; }
int nvmlDeviceGetMinorNumber(void *device, unsigned *ret) { *ret = ((struct card *) device)->index; return SUCCESS; }
int nvmlDeviceGetArchitecture(void *device, unsigned *ret) { (void) device; *ret = ARCHITECTURE_HOPPER; return SUCCESS; }
int nvmlDeviceGetBrand(void *device, unsigned *ret) { (void) device; *ret = BRAND_NVIDIA; return SUCCESS; }

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *ret)
{
    const struct card *card = device;
    *ret = (struct pci_info){ .pci_device_id = 0x233010de };
    sscanf(card->address, "%x:%x:%x", &ret->domain, &ret->bus, &ret->device);
    snprintf(ret->bus_id, sizeof ret->bus_id, "%08X:%02X:%02X.0", ret->domain, ret->bus, ret->device);
    snprintf(ret->bus_id_legacy, sizeof ret->bus_id_legacy, "%04X:%02X:%02X.0", ret->domain, ret->bus, ret->device);
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
    (void) device;
    ret[0] = ret[1] = 81559ULL << 20;
    ret[2] = 0;
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    (void) device;
    *major = COMPUTE_MAJOR;
    *minor = 0;
    return SUCCESS;
}

/* ---- MIG: none */

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) { (void) device; *now = *later = 0; return SUCCESS; }
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret) { (void) device; *ret = 0; return SUCCESS; }
int nvmlDeviceIsMigDeviceHandle(void *device, unsigned *ret) { (void) device; *ret = 0; return SUCCESS; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret)
{
    (void) device, (void) index, (void) ret;
    return NOT_FOUND;
}

/* ---- topology: each card for itself */

int nvmlDeviceGetTopologyCommonAncestor(void *one, void *other, unsigned *ret)
{
    *ret = one == other ? TOPOLOGY_INTERNAL : TOPOLOGY_SYSTEM;
    return SUCCESS;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *ret)
{
    (void) device, (void) link, (void) ret;
    return NOT_SUPPORTED;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci_info *ret)
{
    (void) device, (void) link, (void) ret;
    return NOT_SUPPORTED;
}

/* ---- fabric */

int nvmlDeviceGetGpuFabricInfo(void *device, void *ret) { (void) device, (void) ret; return NOT_SUPPORTED; }
int nvmlDeviceGetGpuFabricInfoV(void *device, void *ret) { (void) device, (void) ret; return NOT_SUPPORTED; }
int nvmlDeviceGetAddressingMode(void *device, void *ret) { (void) device, (void) ret; return NOT_SUPPORTED; }

/* ---- events: nothing ever happens */

int nvmlEventSetCreate(void **ret) { *ret = cards; return SUCCESS; }
int nvmlEventSetFree(void *set) { (void) set; return SUCCESS; }
int nvmlDeviceGetSupportedEventTypes(void *device, unsigned long long *ret) { (void) device; *ret = ~0ULL; return SUCCESS; }
int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
    (void) device, (void) types, (void) set;
    return SUCCESS;
}

int nvmlEventSetWait_v2(void *set, struct event *ret, unsigned milliseconds)
{
    (void) set, (void) ret;
    usleep(milliseconds * 1000);
    return TIMEOUT;
}
