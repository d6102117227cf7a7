/* NVML of a machine whose kernel is a folder: what NVIDIA's own programs ask of it, answered from
 * the cards on the bus, where the test has left a UUID beside what sysfs has. The library's name
 * has the version of the driver, as NVIDIA's has. Layouts are those of nvml.h of
 * github.com/NVIDIA/go-nvml v0.13.3-1; `LD_DEBUG=symbols nvidia-device-plugin` lists what is asked.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml.h"

enum { COMPUTE_MAJOR = 9, ARCHITECTURE_HOPPER = 9, BRAND_NVIDIA = 14 };
enum { TOPOLOGY_INTERNAL = 0, TOPOLOGY_SYSTEM = 50 };

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

struct card cards[CARDS_MAX];
unsigned count;

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
        read_layout(card);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    count = n < 0 ? 0 : n > CARDS_MAX ? CARDS_MAX : (unsigned) n;
    return access("/sys/module/nvidia/refcnt", F_OK) == 0 ? SUCCESS : DRIVER_NOT_LOADED;
}

int nvmlInit_v2(void)
{
    return look();
}
int nvmlInitWithFlags(unsigned flags)
{
    (void) flags;
    return look();
}
int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int error)
{
    switch (error) {
    case SUCCESS:
        return "Success";
    case INVALID_ARGUMENT:
        return "Invalid Argument";
    case NOT_SUPPORTED:
        return "Not Supported";
    case NOT_FOUND:
        return "Not Found";
    case DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case TIMEOUT:
        return "Timeout";
    default:
        return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *ret, unsigned size)
{
    return read_line("/sys/module/nvidia/version", ret, (int) size);
}

int nvmlSystemGetCudaDriverVersion(int *ret)
{
    *ret = 13000;
    return SUCCESS;
}
int nvmlSystemGetCudaDriverVersion_v2(int *ret)
{
    *ret = 13000;
    return SUCCESS;
}
int nvmlSystemGetNVMLVersion(char *ret, unsigned size)
{
    return nvmlSystemGetDriverVersion(ret, size);
}
int nvmlDeviceGetCount_v2(unsigned *ret)
{
    *ret = count;
    return SUCCESS;
}

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
    *ret = slice_with_uuid(uuid);
    return *ret ? SUCCESS : NOT_FOUND;
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

int nvmlDeviceGetUUID(void *device, char *ret, unsigned size)
{
    const struct slice *slice = slice_of(device);
    return put(ret, size, slice ? slice->uuid : ((struct card *) device)->uuid);
}

int nvmlDeviceGetName(void *device, char *ret, unsigned size)
{
    const struct slice *slice = slice_of(device);
    snprintf(ret, size, slice ? PRODUCT " MIG %s" : PRODUCT, slice ? slice->profile->name : "");
    return SUCCESS;
}

int nvmlDeviceGetIndex(void *device, unsigned *ret)
{
    const struct slice *slice = slice_of(device);
    *ret = slice ? slice->index : ((struct card *) device)->index;
    return SUCCESS;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *ret)
{
    if (slice_of(device))
        return NOT_SUPPORTED;
    *ret = ((struct card *) device)->index;
    return SUCCESS;
}

int nvmlDeviceGetSerial(void *device, char *ret, unsigned size)
{
    (void) device;
    return put(ret, size, "1650000000000");
}
int nvmlDeviceGetArchitecture(void *device, unsigned *ret)
{
    (void) device;
    *ret = ARCHITECTURE_HOPPER;
    return SUCCESS;
}
int nvmlDeviceGetBrand(void *device, unsigned *ret)
{
    (void) device;
    *ret = BRAND_NVIDIA;
    return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *ret)
{
    const struct slice *slice = slice_of(device);
    const struct card *card = slice ? slice->card : device;
    *ret = (struct pci_info){ .pci_device_id = 0x233010de };
    sscanf(card->address, "%x:%x:%x", &ret->domain, &ret->bus, &ret->device);
    snprintf(ret->bus_id, sizeof ret->bus_id, "%08X:%02X:%02X.0", ret->domain, ret->bus,
             ret->device);
    snprintf(ret->bus_id_legacy, sizeof ret->bus_id_legacy, "%04X:%02X:%02X.0", ret->domain,
             ret->bus, ret->device);
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
    const struct slice *slice = slice_of(device);
    ret[0] = ret[1] = (slice ? slice->profile->memory_mib : CARD_MEMORY_MIB) * (1ULL << 20);
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

int nvmlDeviceGetGpuFabricInfo(void *device, void *ret)
{
    (void) device, (void) ret;
    return NOT_SUPPORTED;
}
int nvmlDeviceGetGpuFabricInfoV(void *device, void *ret)
{
    (void) device, (void) ret;
    return NOT_SUPPORTED;
}
int nvmlDeviceGetAddressingMode(void *device, void *ret)
{
    (void) device, (void) ret;
    return NOT_SUPPORTED;
}

/* ---- events: nothing ever happens */

int nvmlEventSetCreate(void **ret)
{
    *ret = cards;
    return SUCCESS;
}
int nvmlEventSetFree(void *set)
{
    (void) set;
    return SUCCESS;
}
int nvmlDeviceGetSupportedEventTypes(void *device, unsigned long long *ret)
{
    (void) device;
    *ret = ~0ULL;
    return SUCCESS;
}
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
