#include "node/inventory/card_health.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/gpu_recovery.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { NAME_MAX_LEN = 31, COUNT_MAX = INT32_MAX };

/* NULL at the end. */
static const char *const fabrics[] = { "Healthy", "Limited", "Unhealthy", NULL };
static const char *const either[] = { "false", "true", NULL };
static const char *const only_true[] = { "true", NULL };

enum card_kind { KIND_NAME, KIND_RECOVERY, KIND_WORD, KIND_FLAG, KIND_COUNT };

/* The keys, which are also those of the JSON form, and their values. `well`: the value if nothing
 * is wrong; NULL: any. */
static const struct {
    const char *key;
    enum card_kind kind;
    const char *const *words;
    const char *well;
} rows[] = {
    [CARD_SERIAL] = { "serial", KIND_NAME, NULL, NULL },
    [CARD_RECOVERY] = { "recovery", KIND_RECOVERY, NULL, "None" },
    [CARD_REMAP_PENDING] = { "remapPending", KIND_FLAG, either, "false" },
    [CARD_REMAP_FAILED] = { "remapFailed", KIND_FLAG, either, "false" },
    [CARD_DOUBLE_BIT_ERRORS] = { "doubleBitErrors", KIND_COUNT, NULL, "0" },
    [CARD_SRAM_EXCEEDED] = { "sramExceeded", KIND_FLAG, either, "false" },
    [CARD_FABRIC] = { "fabric", KIND_WORD, fabrics, "Healthy" },
    [CARD_LOST] = { "lost", KIND_FLAG, only_true, "false" },
    [CARD_HANGS] = { "hangs", KIND_FLAG, only_true, "false" },
};

/* ---- from words */

static bool is_name(struct part p)
{
    for (size_t i = 0; i < p.len; i++)
        if (!isalnum((unsigned char) p.at[i]) && p.at[i] != '-')
            return false;
    return p.len > 0 && p.len <= NAME_MAX_LEN;
}

static bool is_recovery(struct part p)
{
    for (int r = RECOVERY_NONE; r < RECOVERIES; r++)
        if (part_is(p, gpu_recovery_name((enum gpu_recovery) r)))
            return true;
    return false;
}

static bool is_value(enum card_fact fact, struct part value)
{
    const char *const *word = rows[fact].words;
    int64_t count;
    if (rows[fact].kind == KIND_NAME)
        return is_name(value);
    if (rows[fact].kind == KIND_RECOVERY)
        return is_recovery(value);
    if (rows[fact].kind == KIND_COUNT)
        return part_number(value, COUNT_MAX, &count);
    while (*word && !part_is(value, *word))
        word++;
    return *word != NULL;
}

/* Of two values of one key, the first counts. */
static void take_word(struct arena *a, struct part word, struct card_health *ret)
{
    struct part key, value;
    if (!part_assignment(word, &key, &value))
        return;
    for (int fact = 0; fact < CARD_FACTS; fact++)
        if (part_is(key, rows[fact].key) && !ret->values[fact] &&
            is_value((enum card_fact) fact, value))
            ret->values[fact] = part_shown(a, value, NAME_MAX_LEN);
}

void card_health_read(struct arena *a, struct part facts, struct card_health *ret)
{
    struct part word;
    for (int i = 0; i < CARD_WORDS_MAX && part_word(&facts, &word); i++)
        take_word(a, word, ret);
}

static bool is_empty(const struct card_health *h)
{
    for (int fact = 0; fact < CARD_FACTS; fact++)
        if (h->values[fact])
            return false;
    return true;
}

void card_health_add(struct view *v, const struct pci_devices *gpus, struct part address,
                     struct part facts, struct card_healths *ret)
{
    const char *name = part_shown(&v->arena, address, CARD_ADDRESS_MAX);
    const struct pci_device *gpu = name ? pci_find(gpus, name) : NULL;
    struct card_health h = { .address = gpu ? gpu->address : NULL };
    size_t at = 0;
    if (gpu)
        card_health_read(&v->arena, facts, &h);
    if (!gpu || is_empty(&h))
        return;
    if (!ret->items)
        ret->items = arena_alloc(&v->arena, PCI_DEVICES_MAX * sizeof *ret->items);
    while (at < ret->len && strcmp(ret->items[at].address, h.address) < 0)
        at++;
    if (at < ret->len && str_eq(ret->items[at].address, h.address))
        return;
    memmove(&ret->items[at + 1], &ret->items[at], (ret->len - at) * sizeof *ret->items);
    ret->items[at] = h;
    ret->len++;
}

static bool is_well(const struct card_health *h)
{
    for (int fact = 0; fact < CARD_FACTS; fact++)
        if (rows[fact].well && h->values[fact] && !str_eq(h->values[fact], rows[fact].well))
            return false;
    return true;
}

void card_health_cut(struct card_healths *list)
{
    for (size_t i = list->len; i-- > 0 && list->len > CARD_HEALTH_MAX;) {
        if (!is_well(&list->items[i]))
            continue;
        memmove(&list->items[i], &list->items[i + 1], (list->len - i - 1) * sizeof *list->items);
        list->len--;
    }
    if (list->len > CARD_HEALTH_MAX)
        list->len = CARD_HEALTH_MAX;
}

/* ---- to JSON and text */

static json_t *value_json(enum card_fact fact, const char *value)
{
    int64_t count = 0;
    if (rows[fact].kind == KIND_FLAG)
        return json_boolean(str_eq(value, "true"));
    if (rows[fact].kind == KIND_COUNT)
        return part_number(part_of(value), COUNT_MAX, &count) ? json_integer(count) : NULL;
    return json_text(value);
}

json_t *card_health_json(const struct card_healths *list)
{
    json_t *ret = list->len ? json_array() : NULL;
    for (size_t i = 0; i < list->len; i++) {
        const struct card_health *h = &list->items[i];
        json_t *row = json_pack("{s:s}", "address", h->address);
        for (int fact = 0; fact < CARD_FACTS; fact++)
            if (h->values[fact])
                json_object_set_new(row, rows[fact].key,
                                    value_json((enum card_fact) fact, h->values[fact]));
        json_array_append_new(ret, row);
    }
    return ret;
}

void card_health_print(const struct card_health *h, struct buf *ret)
{
    const char *comma = "";
    for (int fact = 0; fact < CARD_FACTS; fact++)
        if (h->values[fact]) {
            buf_printf(ret, "%s%s %s", comma, rows[fact].key, h->values[fact]);
            comma = ", ";
        }
}
