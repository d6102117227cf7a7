/* What the files of the library share: the cards, and what each is divided into. */
#ifndef OSTLER_E2E_OPERANDS_DRIVER_NVML_H
#define OSTLER_E2E_OPERANDS_DRIVER_NVML_H

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    DRIVER_NOT_LOADED = 9,
    TIMEOUT = 10
};
enum { CARDS_MAX = 16, SLICES_MAX = 7, UUID_MAX = 80, ADDRESS_MAX = 32, CARD_MEMORY_MIB = 81559 };

#define BUS "/sys/bus/pci/devices"
#define PRODUCT "NVIDIA H100 80GB HBM3"

/* A kind of GPU instance of this card. Its numbers: `index` among all kinds of NVML, `id` among
 * those of this card. */
struct profile {
    const char *name;
    unsigned index, id, slices, memory_mib;
};

struct card;

/* A GPU instance with the one compute instance in it: a MIG device. */
struct slice {
    struct card *card;
    const struct profile *profile;
    char uuid[UUID_MAX];
    unsigned index, gpu_instance;
};

struct card {
    char address[ADDRESS_MAX], uuid[UUID_MAX];
    unsigned index;
    unsigned mig_mode, slice_count;
    struct slice slices[SLICES_MAX];
};

/* What it is divided into, as the test's nvidia-smi has left it beside what sysfs has: a file `mig`
 * when MIG is enabled, with a line "GPU-INSTANCE PROFILE UUID" for each instance. */
void read_layout(struct card *card);
/* The MIG device behind a handle; NULL: it is a card's. */
const struct slice *slice_of(void *device);
struct slice *slice_with_uuid(const char *uuid);

extern struct card cards[CARDS_MAX];
extern unsigned count;

#endif
