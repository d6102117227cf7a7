#include "base/vendor.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

const struct vendor vendors[] = {
    [VENDOR_NVIDIA] = {
        .name = "NVIDIA",
        .word = "nvidia",
        .has_operands = true,
        .pci = 0x10de,
        .classes = { 0x0300, 0x0302 },
        .switches = 0x0680,
        .prefix = NVIDIA_PREFIX,
        .resource = NVIDIA_GPU,
        .partitions = { NVIDIA_MIG },
        .present = NVIDIA_GPU ".present",
        .taint = NVIDIA_GPU,
        /* Set by GKE and AWS node groups to a GPU's model. */
        .signs = { { "cloud.google.com/gke-accelerator", NULL },
                   { "k8s.amazonaws.com/accelerator", NULL } },
        .module = "nvidia",
        .gpu_device = "/dev/nvidia",
        .shared_devices = { "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-modeset",
                            "/dev/nvidia-nvswitch", "/dev/nvidia-caps", "/dev/nvidia-fs",
                            "/dev/nvidia-vgpu" },
        .majors = { "nvidia" },
    },
/* tests/unit/vendor adds a row. */
#ifdef OSTLER_EXTRA_VENDORS
#include OSTLER_EXTRA_VENDORS
#endif
};
const size_t vendor_count = ARRAY_LEN(vendors);

uint8_t vendor_row(const struct vendor *v)
{
    return (uint8_t) (v - vendors);
}

const struct vendor *vendor_of_pci(unsigned id)
{
    EACH_VENDOR (v)
        if (v->pci == id)
            return v;
    return NULL;
}

const struct vendor *vendor_of_resource(const char *resource)
{
    EACH_VENDOR (v)
        if (str_has_prefix(resource, v->resource) || vendor_partition(v, resource))
            return v;
    return NULL;
}

const struct vendor *vendor_of_key(const char *key)
{
    EACH_VENDOR (v)
        if (str_has_prefix(key, v->prefix))
            return v;
    return NULL;
}

const struct vendor *vendor_of_present(const char *label)
{
    EACH_VENDOR (v)
        if (str_eq(label, v->present))
            return v;
    return NULL;
}

bool vendor_makes_gpus(const struct vendor *v, unsigned class)
{
    for (size_t i = 0; v->classes[i]; i++)
        if (v->classes[i] == class)
            return true;
    return false;
}

const char *vendor_partition(const struct vendor *v, const char *resource)
{
    for (size_t i = 0; v->partitions[i]; i++)
        if (str_has_prefix(resource, v->partitions[i]))
            return resource + strlen(v->partitions[i]);
    return NULL;
}
