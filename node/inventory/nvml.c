#include "node/inventory/nvml.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"

enum { MEMORY_MAX_MIB = 1 << 24, VERSION_TEXT_MAX = 256, PLACES_MAX = 4096, PLACE_LEN_MAX = 192 };

#define CAPABILITIES "proc/driver/nvidia/capabilities"

/* ---- the current layout */

/* Prefixes of directory names at each level below the capabilities. */
static const char *const levels[] = { "gpu", "mig", "gi", "ci" };

struct walk {
    struct view *v;
    size_t left; /* names that may still be read */
};

/* A sum of hashes, because names come in no order. */
static uint64_t sum_below(struct walk *w, const char *path, size_t level)
{
    CLEANUP_FOLDER struct folder folder = { 0 };
    uint64_t sum = 0;
    const char *name;
    if (level == ARRAY_LEN(levels) || view_folder(w->v, path, w->left, &folder) != SEEN)
        return 0;
    while ((name = folder_next(&folder))) {
        char below[PLACE_LEN_MAX];
        w->left -= w->left > 0;
        if (!str_has_prefix(name, levels[level]))
            continue;
        snprintf(below, sizeof below, "%s/%s", path, name);
        sum += str_hash(below, strlen(below)) + sum_below(w, below, level + 1);
    }
    return sum;
}

static uint64_t sum_of_gpus(struct view *v)
{
    CLEANUP_FOLDER struct folder gpus = { 0 };
    uint64_t sum = 0;
    const char *name;
    view_folder(v, PCI_DRIVER_GPUS, PLACES_MAX, &gpus);
    while ((name = folder_next(&gpus)))
        sum += str_hash(name, strlen(name));
    return sum;
}

uint64_t nvml_layout(struct view *v)
{
    struct walk w = { v, PLACES_MAX };
    const char *version;
    if (view_text(v, "proc/driver/nvidia/version", VERSION_TEXT_MAX, &version) != SEEN || !version)
        return 0;
    uint64_t sum = str_hash(version, strlen(version)) + sum_of_gpus(v) +
                   sum_below(&w, CAPABILITIES, 0);
    return sum ? sum : 1;
}

/* ---- the file */

#define END "end\n"

static bool nvml_is_word(struct part p, size_t max, const char *others)
{
    for (size_t i = 0; i < p.len; i++)
        if (!isalnum((unsigned char) p.at[i]) && !(p.at[i] && strchr(others, p.at[i])))
            return false;
    return p.len > 0 && p.len <= max;
}

static bool is_uuid(struct part p)
{
    return nvml_is_word(p, NVML_UUID_MAX, "-");
}

bool nvml_is_whole(struct part text)
{
    size_t n = sizeof END - 1;
    if (text.len < n || !part_is(part_from(text, text.at + text.len - n), END))
        return false;
    return text.len == n || text.at[text.len - n - 1] == '\n';
}

static bool take_card(struct part rest, struct nvml_line *ret)
{
    struct part memory, more;
    return part_word(&rest, &ret->uuid) && is_uuid(ret->uuid) && part_word(&rest, &memory) &&
           part_number(memory, MEMORY_MAX_MIB, &ret->memory_mib) && ret->memory_mib > 0 &&
           !part_word(&rest, &more);
}

static bool take_mig(struct part rest, struct nvml_line *ret)
{
    struct part more;
    return part_word(&rest, &ret->uuid) && is_uuid(ret->uuid) && part_word(&rest, &ret->profile) &&
           nvml_is_word(ret->profile, NVML_PROFILE_MAX, ".+-_") &&
           part_word(&rest, &ret->mig_uuid) && is_uuid(ret->mig_uuid) && !part_word(&rest, &more);
}

static bool take_address(struct part *rest, struct part *ret)
{
    char address[CARD_ADDRESS_MAX + 1];
    if (!part_word(rest, ret) || ret->len > CARD_ADDRESS_MAX)
        return false;
    snprintf(address, sizeof address, "%.*s", (int) ret->len, ret->at);
    /* A NUL in it ends the copy earlier. */
    return strlen(address) == ret->len && pci_is_address(address);
}

static bool take_asks(struct part rest, struct nvml_line *ret)
{
    struct part more;
    return take_address(&rest, &ret->address) && !part_word(&rest, &more);
}

static bool take_health(struct part rest, struct nvml_line *ret)
{
    bool is_one = take_address(&rest, &ret->address);
    ret->facts = rest;
    return is_one;
}

static bool nvml_take_line(struct part line, struct nvml_line *ret)
{
    static const struct {
        const char *word;
        bool (*take)(struct part rest, struct nvml_line *ret);
    } kinds[] = { [NVML_CARD] = { "card", take_card },
                  [NVML_MIG] = { "mig", take_mig },
                  [NVML_ASKS] = { "asks", take_asks },
                  [NVML_HEALTH] = { "health", take_health } };
    struct part rest = line, word;
    if (!part_word(&rest, &word))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        *ret = (struct nvml_line){ .kind = (enum nvml_kind) i, .text = line, .facts = PART("") };
        if (part_is(word, kinds[i].word))
            return kinds[i].take(rest, ret);
    }
    return false;
}

bool nvml_next(struct part *text, struct nvml_line *ret)
{
    struct part line;
    while (part_next(text, '\n', &line))
        if (nvml_take_line(line, ret))
            return true;
    return false;
}

static struct pci_device *nvml_find(const struct pci_devices *gpus, struct part uuid)
{
    for (size_t i = 0; i < gpus->len; i++)
        if (gpus->items[i].uuid && part_is(uuid, gpus->items[i].uuid))
            return &gpus->items[i];
    return NULL;
}

/* More MIG devices than any GPU has cannot be true: then none is taken. */
static void add_mig(struct view *v, const struct nvml_line *line, struct pci_device *gpu)
{
    if (gpu->mig_instances == 0 || gpu->mig_count > PCI_MIG_MAX)
        return;
    if (gpu->mig_count++ == PCI_MIG_MAX) {
        gpu->mig = NULL;
        return;
    }
    if (!gpu->mig)
        gpu->mig = arena_alloc(&v->arena, PCI_MIG_MAX * sizeof *gpu->mig);
    gpu->mig[gpu->mig_count - 1] = (struct mig_device){
        .profile = part_shown(&v->arena, line->profile, NVML_PROFILE_MAX),
        .uuid = part_shown(&v->arena, line->mig_uuid, NVML_UUID_MAX)
    };
}

/* Whether the file describes this boot and the current layout. */
static bool is_of_now(struct view *v, struct part first, const char *boot_id)
{
    char layout[17];
    struct part boot, of;
    snprintf(layout, sizeof layout, "%016" PRIx64, nvml_layout(v));
    return boot_id && part_word(&first, &boot) && part_is(boot, boot_id) &&
           part_word(&first, &of) && part_is(of, layout);
}

/* Whether `ostler-node cards` still writes the file. */
static bool is_fresh(struct view *v)
{
    const struct clock clock = clock_system();
    int64_t written_s, now_s = clock_wall_us(&clock) / 1000000;
    return root_written(v->root, NVML_FILE, &written_s) == 0 && now_s - written_s <= NVML_FRESH_S &&
           written_s - now_s <= NVML_FRESH_S;
}

static void take_line(struct view *v, const struct nvml_line *line, struct pci_devices *gpus,
                      struct card_healths *health)
{
    struct pci_device *gpu;
    if (line->kind == NVML_HEALTH && health)
        card_health_add(v, gpus, line->address, line->facts, health);
    if (line->kind > NVML_MIG || !(gpu = nvml_find(gpus, line->uuid)))
        return;
    if (line->kind == NVML_CARD)
        gpu->memory_mib = line->memory_mib;
    else
        add_mig(v, line, gpu);
}

void nvml_look(struct view *v, const char *boot_id, struct pci_devices *gpus,
               struct card_healths *ret)
{
    CLEANUP_BUF struct buf said = BUF_INIT(NVML_TEXT_MAX);
    struct nvml_line line;
    struct part first;
    if (view_read(v, NVML_FILE, &said) != SEEN)
        return;
    struct part text = part_of_buf(&said);
    if (!nvml_is_whole(text) || !part_next(&text, '\n', &first) || !is_of_now(v, first, boot_id))
        return;
    bool fresh = is_fresh(v);
    while (nvml_next(&text, &line))
        take_line(v, &line, gpus, fresh ? ret : NULL);
    card_health_cut(ret);
}
