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

static bool read_fault(const json_t *said, struct fault_record *r)
{
    r->tainted = json_bool(said, "tainted", false);
    return read_text(said, "reason", sizeof r->reason, r->reason) && is_word(r->reason) &&
           read_text(said, "gpu", sizeof r->address, r->address) && is_address(r->address) &&
           read_boot(said, &r->boot) && read_time(said, "since", &r->since_s);
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

static void put_fault(json_t *said, const struct fault_record *r)
{
    char boot[BOOT_DIGITS + 1];
    snprintf(boot, sizeof boot, "%016" PRIx64, r->boot);
    json_object_set_new(said, "reason", json_text(r->reason));
    if (*r->address)
        json_object_set_new(said, "gpu", json_text(r->address));
    json_object_set_new(said, "boot", json_string(boot));
    json_object_set_new(said, "since", time_json(r->since_s));
    if (r->tainted)
        json_object_set_new(said, "tainted", json_true());
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

void fault_record_try(struct fault_record *r, enum repair_kind kind, int64_t at_s)
{
    if (r->tries_len == REPAIRS_MAX)
        memmove(r->tries, r->tries + 1, --r->tries_len * sizeof *r->tries);
    r->tries[r->tries_len++] = (struct repair_try){ .kind = (uint8_t) kind, .at_s = at_s };
}

unsigned fault_record_tries(const struct fault_record *r, enum repair_kind kind, int64_t per_s,
                            int64_t now_s)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->tries_len; i++)
        n += r->tries[i].kind == kind && r->tries[i].at_s > now_s - per_s;
    return n;
}
