#include "node/inventory/gpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CARDS "proc/driver/nvidia/gpus"

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
static int count_instances(const struct view *v, int minor)
{
    char path[96];
    CLEANUP_FOLDER struct folder mig = { 0 };
    int count = 0, why = 0;
    const char *name;
    snprintf(path, sizeof path, "proc/driver/nvidia/capabilities/gpu%d/mig", minor);
    if (view_folder(v, path, INSTANCES_MAX, &mig) != SEEN)
        return 0;
    while ((name = folder_next(&mig, &why)))
        count += name[0] == 'g' && name[1] == 'i' && name[2] >= '0' && name[2] <= '9';
    if (why)
        view_note(v, path, why);
    return count;
}

static void gpu_take(const struct view *v, const char *address, struct pci_devices *gpus)
{
    char path[128];
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    struct pci_device said = {
        .vendor = &vendors[VENDOR_NVIDIA], .minor = -1, .numa_node = -1, .bus = BUS_GONE
    };
    snprintf(path, sizeof path, CARDS "/%s/information", address);
    if (view_read(v, path, &text) != SEEN)
        return;
    gpu_parse(v->arena, (struct part){ buf_text(&text), text.len }, &said);
    if (said.minor >= 0)
        said.mig_instances = count_instances(v, said.minor);
    struct pci_device *device = pci_find(gpus, address);
    if (!device) {
        said.address = arena_strdup(v->arena, address);
        pci_add(v, gpus, &said);
        return;
    }
    device->product = said.product;
    device->uuid = said.uuid;
    device->minor = said.minor;
    device->mig_instances = said.mig_instances;
}

void gpu_read(const struct view *v, struct pci_devices *gpus)
{
    CLEANUP_FOLDER struct folder folder = { 0 };
    int why = 0;
    const char *name;
    if (view_folder(v, CARDS, CARDS_MAX, &folder) != SEEN)
        return;
    while ((name = folder_next(&folder, &why)))
        if (pci_is_address(name))
            gpu_take(v, name, gpus);
    if (why)
        view_note(v, CARDS, why);
}
