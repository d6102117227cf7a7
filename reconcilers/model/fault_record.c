#include "reconcilers/model/fault_record.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

/* The version that this Ostler reads and writes. A record of another version counts as absent. */
enum { VERSION = 1 };
enum { BOOT_DIGITS = 16 };

static const char *const states[FAULT_STATES_LEN] = {
#define X(id, name) [FAULT_##id] = name,
    FAULT_STATES(X)
#undef X
};

/* ---- reading; each reader accepts only what fault_record_text() writes */

/* FAULT_STATES_LEN: none has this name. */
static enum fault_state state_of(const char *name)
{
    size_t i = 0;
    while (i < FAULT_STATES_LEN && !str_eq(states[i], name))
        i++;
    return (enum fault_state) i;
}

static bool read_text(const json_t *said, const char *key, size_t size, char *ret)
{
    const json_t *value = json_object_get(said, key);
    const char *text = value ? json_string_value(value) : "";
    bool fits = text && strlen(text) < size &&
                strlen(text) == (value ? json_string_length(value) : 0);
    if (fits)
        snprintf(ret, size, "%s", text);
    return fits;
}

/* Both are shown to users as Ostler's own: a word of letters and digits, and a PCI address. */
static bool is_word(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char) text[n]))
        n++;
    return n > 0 && !text[n];
}

static bool is_address(const char *text)
{
    return !text[strspn(text, "0123456789abcdef:.")];
}

static bool read_time(const json_t *said, const char *key, int64_t *ret_s)
{
    int64_t us = clock_parse_written(json_str(said, key));
    *ret_s = us / 1000000;
    return us >= 0;
}

static bool read_boot(const json_t *said, uint64_t *ret)
{
    const char *text = json_str_or_empty(said, "boot");
    bool hex = strlen(text) == BOOT_DIGITS && strspn(text, "0123456789abcdef") == BOOT_DIGITS;
    *ret = hex ? strtoull(text, NULL, 16) : 0;
    return hex;
}

static bool read_level(const json_t *said, enum health_level *ret)
{
    const json_t *level = json_object_get(said, "level");
    *ret = HEALTH_NONE;
    return !level || health_level_parse(json_str_or_empty(said, "level"), ret);
}

static bool read_name(const json_t *said, struct fault_name *ret)
{
    return read_text(said, "reason", sizeof ret->reason, ret->reason) && is_word(ret->reason) &&
           read_text(said, "gpu", sizeof ret->address, ret->address) && is_address(ret->address) &&
           read_boot(said, &ret->boot) && read_level(said, &ret->level);
}

/* Without a time: written before Ostler knew one. */
static bool read_left(const json_t *said, struct fault_name *ret)
{
    bool timed = json_object_get(said, "since");
    return read_name(said, ret) && (!timed || read_time(said, "since", &ret->left_s));
}

static bool read_fault(const json_t *said, struct fault_record *r)
{
    struct fault_name name;
    const json_t *left = json_object_get(said, "left");
    int64_t relapses = json_int(said, "relapses", 0);
    bool good = read_name(said, &name) && read_time(said, "since", &r->since_s) &&
                (!left || read_left(left, &r->left)) && relapses >= 0 && relapses <= UINT8_MAX;
    if (!good)
        return false;
    memcpy(r->reason, name.reason, sizeof r->reason);
    memcpy(r->address, name.address, sizeof r->address);
    r->boot = name.boot;
    r->level = name.level;
    r->tainted = json_bool(said, "tainted", false);
    r->relapses = (uint8_t) relapses;
    return true;
}

bool fault_record_parse(const char *text, struct fault_record *ret)
{
    struct fault_record r = { 0 };
    size_t len = text ? strnlen(text, FAULT_TEXT_MAX) : 0;
    *ret = r;
    CLEANUP_JSON json_t *said = len && len < FAULT_TEXT_MAX ? json_parse(text, len, NULL) : NULL;
    r.state = state_of(json_str(said, "state"));
    bool good = json_int(said, "v", 0) == VERSION && r.state < FAULT_STATES_LEN &&
                (r.state == FAULT_OVER || read_fault(said, &r)) &&
                repair_tries_read(json_object_get(said, "tries"), r.tries, &r.tries_len);
    if (good)
        *ret = r;
    return good;
}

/* ---- writing */

static json_t *time_json(int64_t at_s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339(at_s * 1000000, text);
    return json_string(text);
}

static void put_name(json_t *said, const struct fault_name *name)
{
    char boot[BOOT_DIGITS + 1];
    snprintf(boot, sizeof boot, "%016" PRIx64, name->boot);
    json_object_set_new(said, "reason", json_text(name->reason));
    if (*name->address)
        json_object_set_new(said, "gpu", json_text(name->address));
    json_object_set_new(said, "boot", json_string(boot));
    if (name->level)
        json_object_set_new(said, "level", json_string(health_level_name(name->level)));
}

static void put_fault(json_t *said, const struct fault_record *r)
{
    const struct fault_name name = fault_record_name(r);
    put_name(said, &name);
    json_object_set_new(said, "since", time_json(r->since_s));
    if (r->tainted)
        json_object_set_new(said, "tainted", json_true());
    if (r->relapses)
        json_object_set_new(said, "relapses", json_integer(r->relapses));
    if (!*r->left.reason)
        return;
    json_t *left = json_object();
    put_name(left, &r->left);
    if (r->left.left_s)
        json_object_set_new(left, "since", time_json(r->left.left_s));
    json_object_set_new(said, "left", left);
}

bool fault_record_of(const struct node_view *view, struct fault_record *ret)
{
    return fault_record_parse(intern_text(view->strings, view->node->fault), ret);
}

bool fault_state_closes(enum fault_state state)
{
    return state == FAULT_CLOSED || state == FAULT_PROVING;
}

char *fault_record_text(const struct fault_record *r)
{
    if (r->state == FAULT_OVER && !r->tries_len)
        return NULL;
    CLEANUP_JSON json_t *said = json_pack("{s:i, s:s}", "v", VERSION, "state", states[r->state]);
    if (r->state != FAULT_OVER)
        put_fault(said, r);
    if (r->tries_len)
        json_object_set_new(said, "tries", repair_tries_json(r->tries, r->tries_len));
    return json_compact(said);
}

struct fault_name fault_record_name(const struct fault_record *r)
{
    struct fault_name name = { .boot = r->boot };
    if (r->state == FAULT_IGNORED) {
        name.left_s = r->since_s;
        name.level = r->level;
    }
    snprintf(name.reason, sizeof name.reason, "%s", r->reason);
    snprintf(name.address, sizeof name.address, "%s", r->address);
    return name;
}

void fault_record_end(struct fault_record *r, int64_t now_s)
{
    const struct fault_name left = r->left;
    struct fault_record over = { .state = *left.reason ? FAULT_IGNORED : FAULT_OVER };
    if (*left.reason) {
        memcpy(over.reason, left.reason, sizeof over.reason);
        memcpy(over.address, left.address, sizeof over.address);
        over.boot = left.boot;
        over.level = left.level;
        over.since_s = left.left_s ? left.left_s : now_s;
    }
    memcpy(over.tries, r->tries, sizeof over.tries);
    over.tries_len = r->tries_len;
    *r = over;
}

void fault_record_try(struct fault_record *r, enum repair_kind kind, int64_t at_s)
{
    if (r->tries_len == REPAIRS_MAX)
        memmove(r->tries, r->tries + 1, --r->tries_len * sizeof *r->tries);
    r->tries[r->tries_len++] = (struct repair_try){ .kind = (uint8_t) kind, .at_s = at_s };
}

void fault_record_untry(struct fault_record *r, enum repair_kind kind, int64_t since_s)
{
    const struct repair_try *last = r->tries_len ? &r->tries[r->tries_len - 1] : NULL;
    if (last && last->kind == kind && last->at_s >= since_s)
        r->tries_len--;
}

unsigned fault_record_tries(const struct fault_record *r, enum repair_kind kind, int64_t per_s,
                            int64_t now_s)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->tries_len; i++)
        n += r->tries[i].kind == kind && r->tries[i].at_s > now_s - per_s;
    return n;
}

enum repair_kind fault_record_tried(const struct fault_record *r, int64_t since_s)
{
    enum repair_kind last = REPAIR_KINDS;
    for (size_t i = 0; i < r->tries_len; i++)
        if (r->tries[i].at_s >= since_s)
            last = (enum repair_kind) r->tries[i].kind;
    return last;
}
