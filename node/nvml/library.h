/* What ostler-nvml uses of the driver's library NVML. Functions that a version lacks are NULL.
 * Layouts and numbers are those of gen/nvml/nvml.h in github.com/NVIDIA/go-nvml, in its versions
 * for CUDA 12.4 (commit f7ceebd) to 13.3 (8b8585b): no struct here differs between them. */
#ifndef OSTLER_NODE_NVML_LIBRARY_H
#define OSTLER_NODE_NVML_LIBRARY_H

enum { NVML_SUCCESS = 0, NVML_GPU_IS_LOST = 15, NVML_RESET_REQUIRED = 16 };

/* NVML_FEATURE_ENABLED; NVML_MEMORY_ERROR_TYPE_UNCORRECTED; NVML_VOLATILE_ECC: since the driver was
 * loaded; NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, which drivers know since R570. */
enum { MIG_ENABLED = 1, UNCORRECTED = 1, VOLATILE = 0, FIELD_RECOVERY = 230 };

/* nvmlMemory_t, in bytes. */
struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

/* nvmlPciInfo_t. */
struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, pci_id, subsystem_id;
    char bus_id[32];
};

/* nvmlValueType_t. */
enum { VALUE_UNSIGNED_INT = 1, VALUE_UNSIGNED_LONG = 2, VALUE_UNSIGNED_LONG_LONG = 3 };

/* nvmlFieldValue_t. The value counts only if `result` is NVML_SUCCESS. */
struct nvml_field {
    unsigned id, scope;
    long long time_us, latency_us;
    unsigned type;
    int result;
    union {
        unsigned narrow;
        unsigned long long wide;
    } value;
};

/* The first member of a versioned struct: its size, and above that its version. */
#define VERSION_OF(type, version) ((unsigned) (sizeof(type) | (version) << 24U))

/* nvmlEccSramErrorStatus_v1_t. */
struct nvml_sram {
    unsigned version;
    unsigned long long counts[11];
    unsigned exceeded;
};
#define SRAM_VERSION VERSION_OF(struct nvml_sram, 1)

/* NVML_GPU_FABRIC_STATE_COMPLETED. */
enum { FABRIC_COMPLETED = 3 };

/* nvmlGpuFabricInfo_v3_t, which drivers know since R580. Version 2 has no summary. `result` is that
 * of a completed probe. */
struct nvml_fabric {
    unsigned version;
    unsigned char cluster[16];
    int result;
    unsigned clique;
    unsigned char state;
    unsigned health_mask;
    unsigned char summary;
};
#define FABRIC_VERSION VERSION_OF(struct nvml_fabric, 3)

_Static_assert(sizeof(struct nvml_pci) == 68 && sizeof(struct nvml_field) == 40 &&
                   SRAM_VERSION == 0x1000068 && FABRIC_VERSION == 0x3000028,
               "the library's structs");

#define OF_THE_DRIVER __attribute__((weak))
extern int nvmlInit_v2(void) OF_THE_DRIVER;
extern int nvmlShutdown(void) OF_THE_DRIVER;
extern int nvmlDeviceGetCount_v2(unsigned *count) OF_THE_DRIVER;
extern int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret) OF_THE_DRIVER;
extern int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret) OF_THE_DRIVER;
extern int nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetUUID(void *device, char *ret, unsigned size) OF_THE_DRIVER;
extern int nvmlDeviceGetName(void *device, char *ret, unsigned size) OF_THE_DRIVER;
extern int nvmlDeviceGetSerial(void *device, char *ret, unsigned size) OF_THE_DRIVER;
extern int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) OF_THE_DRIVER;
extern int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index,
                                               void **ret) OF_THE_DRIVER;
extern int nvmlDeviceGetFieldValues(void *device, int count, struct nvml_field *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
                                     unsigned *pending, unsigned *failed) OF_THE_DRIVER;
extern int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter,
                                       unsigned long long *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetSramEccErrorStatus(void *device, struct nvml_sram *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetGpuFabricInfoV(void *device, struct nvml_fabric *ret) OF_THE_DRIVER;

#endif
