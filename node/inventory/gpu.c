/* What a loaded driver reports of its GPUs in procfs: pci.h. */
#include "node/inventory/pci.h"

#include <string.h>
#include <sys/stat.h>

enum { CARDS_MAX = 256, INSTANCES_MAX = 64, TEXT_MAX = 16384, MINOR_MAX = 255 };

/* Until a GPU is initialized, its driver reports question marks or "Unknown". */
static bool is_said(struct part value)
{
    return value.len && !part_find(value, "?") && !part_is(value, "Unknown");
}

void gpu_parse(struct arena *a, struct part text, struct pci_device *ret)
{
    struct part line, name;
    while (part_next(&text, '\n', &line)) {
        int64_t minor;
        if (!part_next(&line, ':', &name))
            continue;
        struct part value = part_trimmed(line);
        name = part_trimmed(name);
        if (!is_said(value))
            continue;
        if (part_is(name, "Model"))
            ret->product = part_shown(a, value, CARD_PRODUCT_MAX);
        else if (part_is(name, "GPU UUID"))
            ret->uuid = part_shown(a, value, CARD_UUID_MAX);
        else if (part_is(name, "Device Minor") && part_number(value, MINOR_MAX, &minor))
            ret->minor = (int) minor;
    }
}

/* GPU instances are the directories gi0, gi1, … in the GPU's capabilities. */
static int count_instances(struct view *v, int minor)
{
    CLEANUP_FOLDER struct folder mig = { 0 };
    int count = 0;
    const char *name;
    view_folder(v, arena_printf(&v->arena, "proc/driver/nvidia/capabilities/gpu%d/mig", minor),
                INSTANCES_MAX, &mig);
    while ((name = view_next(v, &mig)))
        count += name[0] == 'g' && name[1] == 'i' && name[2] >= '0' && name[2] <= '9';
    return count;
}

static void gpu_take(struct view *v, const char *address, struct pci_devices *gpus)
{
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    struct pci_device gone = {
        .vendor = &vendors[VENDOR_NVIDIA], .minor = -1, .numa_node = -1, .bus = BUS_GONE
    };
    if (view_read(v, arena_printf(&v->arena, PCI_DRIVER_GPUS "/%s/information", address), &text) !=
        SEEN)
        return;
    struct pci_device *listed = pci_find(gpus, address), *device = listed ? listed : &gone;
    gpu_parse(&v->arena, part_of_buf(&text), device);
    if (device->minor >= 0)
        device->mig_instances = count_instances(v, device->minor);
    if (listed)
        return;
    gone.address = arena_strdup(&v->arena, address);
    pci_add(v, gpus, &gone);
}

void gpu_read(struct view *v, struct pci_devices *gpus)
{
    CLEANUP_FOLDER struct folder folder = { 0 };
    const char *name;
    view_folder(v, PCI_DRIVER_GPUS, CARDS_MAX, &folder);
    while ((name = view_next(v, &folder)))
        if (pci_is_address(name))
            gpu_take(v, name, gpus);
}
