/* What NVIDIA's programs ask of a card that is divided, by MIG, into instances. A GPU instance has
 * one compute instance here, which is as large as itself. The kinds are those of an H100 with 80 GB
 * (NVIDIA's MIG User Guide, "Supported MIG Profiles"). */
#include <stdio.h>
#include <string.h>

#include "nvml.h"

static const struct profile profiles[] = {
    { "1g.10gb", 0, 19, 1, 9984 }, { "1g.20gb", 9, 15, 1, 20096 }, { "2g.20gb", 1, 14, 2, 20096 },
    { "3g.40gb", 2, 9, 3, 40448 }, { "4g.40gb", 3, 5, 4, 40448 },  { "7g.80gb", 4, 0, 7, 81152 },
};

/* Kinds of compute instances by NVML's numbers of them, and how many slices each has. */
static const unsigned compute_slices[] = { 1, 2, 3, 4, 7, 8, 6, 1 };

enum { PROFILES = sizeof profiles / sizeof *profiles, COMPUTE_PROFILES = 7 };

struct placement {
    unsigned start, size;
};

struct gpu_instance_profile {
    unsigned id, is_p2p, slices, instances, multiprocessors, copies, decoders, encoders, jpegs,
        ofas;
    unsigned long long memory_mib;
};

struct gpu_instance {
    void *device;
    unsigned id, profile_id;
    struct placement placement;
};

struct compute_instance_profile {
    unsigned id, slices, instances, multiprocessors, copies, decoders, encoders, jpegs, ofas;
};

struct compute_instance {
    void *device, *gpu_instance;
    unsigned id, profile_id;
    struct placement placement;
};

struct attributes {
    unsigned multiprocessors, copies, decoders, encoders, jpegs, ofas, gpu_slices, compute_slices;
    unsigned long long memory_mib;
};

static const struct profile *profile_of(const char *name)
{
    for (unsigned i = 0; i < PROFILES; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}

void read_layout(struct card *card)
{
    char path[512], name[16], uuid[UUID_MAX];
    unsigned id;
    snprintf(path, sizeof path, BUS "/%s/mig", card->address);
    FILE *file = fopen(path, "r");
    card->mig_mode = file != NULL;
    card->slice_count = 0;
    if (!file)
        return;
    while (card->slice_count < SLICES_MAX && fscanf(file, "%u %15s %79s\n", &id, name, uuid) == 3) {
        struct slice *slice = &card->slices[card->slice_count];
        *slice = (struct slice){ .card = card,
                                 .profile = profile_of(name),
                                 .index = card->slice_count,
                                 .gpu_instance = id };
        snprintf(slice->uuid, sizeof slice->uuid, "%s", uuid);
        card->slice_count += slice->profile != NULL;
    }
    fclose(file);
}

const struct slice *slice_of(void *device)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < SLICES_MAX; j++)
            if (device == &cards[i].slices[j])
                return device;
    return NULL;
}

struct slice *slice_with_uuid(const char *uuid)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < cards[i].slice_count; j++)
            if (strcmp(cards[i].slices[j].uuid, uuid) == 0)
                return &cards[i].slices[j];
    return NULL;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    *now = *later = ((struct card *) device)->mig_mode;
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret)
{
    (void) device;
    *ret = SLICES_MAX;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret)
{
    struct card *card = device;
    if (index >= card->slice_count)
        return NOT_FOUND;
    *ret = &card->slices[index];
    return SUCCESS;
}

int nvmlDeviceIsMigDeviceHandle(void *device, unsigned *ret)
{
    *ret = slice_of(device) != NULL;
    return SUCCESS;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *device, void **ret)
{
    const struct slice *slice = slice_of(device);
    if (!slice)
        return INVALID_ARGUMENT;
    *ret = slice->card;
    return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *ret)
{
    const struct slice *slice = slice_of(device);
    if (!slice)
        return NOT_SUPPORTED;
    *ret = slice->gpu_instance;
    return SUCCESS;
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned *ret)
{
    *ret = 0;
    return slice_of(device) ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetAttributes_v2(void *device, struct attributes *ret)
{
    const struct slice *slice = slice_of(device);
    if (!slice)
        return NOT_SUPPORTED;
    const struct profile *p = slice->profile;
    *ret = (struct attributes){ .gpu_slices = p->slices,
                                .compute_slices = p->slices,
                                .memory_mib = p->memory_mib };
    return SUCCESS;
}

/* ---- instances */

int nvmlDeviceGetGpuInstanceById(void *device, unsigned id, void **ret)
{
    struct card *card = device;
    for (unsigned i = 0; i < card->slice_count; i++)
        if (card->slices[i].gpu_instance == id) {
            *ret = &card->slices[i];
            return SUCCESS;
        }
    return NOT_FOUND;
}

int nvmlGpuInstanceGetInfo(void *instance, struct gpu_instance *ret)
{
    const struct slice *slice = instance;
    *ret = (struct gpu_instance){
        slice->card, slice->gpu_instance, slice->profile->id, { 0, slice->profile->slices }
    };
    return SUCCESS;
}

int nvmlGpuInstanceGetComputeInstanceById(void *instance, unsigned id, void **ret)
{
    *ret = instance;
    return id == 0 ? SUCCESS : NOT_FOUND;
}

/* That with the number of slices of the GPU instance. */
static unsigned compute_profile_of(const struct profile *p)
{
    unsigned index = 0;
    while (compute_slices[index] != p->slices)
        index++;
    return index;
}

int nvmlComputeInstanceGetInfo_v2(void *instance, struct compute_instance *ret)
{
    const struct slice *slice = instance;
    const struct profile *p = slice->profile;
    *ret = (struct compute_instance){
        slice->card, instance, 0, compute_profile_of(p), { 0, p->slices }
    };
    return SUCCESS;
}

int nvmlDeviceGetGpuInstanceProfileInfo(void *device, unsigned index,
                                        struct gpu_instance_profile *ret)
{
    (void) device;
    for (unsigned i = 0; i < PROFILES; i++)
        if (profiles[i].index == index) {
            const struct profile *p = &profiles[i];
            *ret = (struct gpu_instance_profile){ .id = p->id,
                                                  .slices = p->slices,
                                                  .instances = SLICES_MAX / p->slices,
                                                  .memory_mib = p->memory_mib };
            return SUCCESS;
        }
    return NOT_SUPPORTED;
}

int nvmlGpuInstanceGetComputeInstanceProfileInfo(void *instance, unsigned index, unsigned engines,
                                                 struct compute_instance_profile *ret)
{
    const struct slice *slice = instance;
    if (engines != 0 || index >= COMPUTE_PROFILES || compute_slices[index] > slice->profile->slices)
        return NOT_SUPPORTED;
    *ret = (struct compute_instance_profile){ .id = index,
                                              .slices = compute_slices[index],
                                              .instances = slice->profile->slices /
                                                           compute_slices[index] };
    return SUCCESS;
}
