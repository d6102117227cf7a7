/* Anything that is left in the place of NVML's words: each line that is taken is about a card, is
 * bounded, and lies within the text. What is taken of a GPU's health has the form that the schema
 * of GpuNode has. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "node/inventory/nvml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct part p, size_t max, const char *text, size_t size)
{
    if (p.len == 0 || p.len > max || p.at < text || p.at + p.len > text + size)
        abort();
    for (size_t i = 0; i < p.len; i++)
        if (!isgraph((unsigned char) p.at[i]))
            abort();
}

static void check_card(const struct nvml_line *line, const char *text, size_t size)
{
    check(line->uuid, NVML_UUID_MAX, text, size);
    if (line->kind == NVML_CARD && (line->memory_mib < 1 || line->memory_mib > 1 << 24))
        abort();
    if (line->kind == NVML_CARD)
        return;
    check(line->profile, NVML_PROFILE_MAX, text, size);
    check(line->mig_uuid, NVML_UUID_MAX, text, size);
}

static void check_member(const char *key, const json_t *value)
{
    size_t most = strcmp(key, "address") == 0 ? CARD_ADDRESS_MAX : 31;
    if (json_is_string(value) ? json_string_length(value) < 1 || json_string_length(value) > most
                              : !json_is_boolean(value) && json_integer_value(value) < 0)
        abort();
    if ((strcmp(key, "lost") == 0 || strcmp(key, "hangs") == 0) && !json_is_true(value))
        abort();
}

/* Every line about health, as if it were of one GPU that the bus has. */
static void check_health(const struct nvml_line *line, const char *text, size_t size)
{
    CLEANUP_VIEW struct view v = { 0 };
    struct pci_device gpu = { .address = part_shown(&v.arena, line->address, CARD_ADDRESS_MAX) };
    const struct pci_devices gpus = { .items = &gpu, .len = 1 };
    struct card_healths list = { 0 };
    check(line->address, CARD_ADDRESS_MAX, text, size);
    if (!pci_is_address(gpu.address))
        abort();
    card_health_add(&v, &gpus, line->address, line->facts, &list);
    card_health_cut(&list);
    CLEANUP_JSON json_t *all = card_health_json(&list);
    JSON_EACH_MEMBER (key, value, json_array_get(all, 0))
        check_member(key, value);
    if (list.len > 1 || (list.len == 1) != (json_object_size(json_array_get(all, 0)) > 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    struct part rest = { text, size };
    struct nvml_line line;
    if (nvml_is_whole(rest) && (size < 4 || memcmp(text + size - 4, "end\n", 4) != 0))
        abort();
    while (nvml_next(&rest, &line)) {
        if (line.kind == NVML_CARD || line.kind == NVML_MIG)
            check_card(&line, text, size);
        else
            check_health(&line, text, size);
    }
    free(text);
    return 0;
}
