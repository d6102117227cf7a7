#include "reconcilers/model/claim.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

/* The newest claim version that this Ostler understands, and the version that it writes. A claim's
 * version is the least that a reader must understand: it grows only if a reader that ignores a new
 * member would do harm (docs/versioning.md). */
enum { VERSION = 1 };
/* Longest release number in a claim, including the NUL. */
enum { RELEASE_MAX = 32 };
/* Of a boot's hash, in hexadecimal. */
enum { BOOT_DIGITS = 16 };
/* More than the attempts or GPUs of any node. */
enum { COUNT_MAX = 1000000 };

const struct claim_kind_row claim_kinds[CLAIM_KIND_COUNT] = {
#define X(id, name, noun, failed, done, ...)                                                       \
    [CLAIM_##id] = { name, noun, REASON_##failed, REASON_##done, __VA_ARGS__ },
    CLAIM_KINDS(X)
#undef X
};

bool claim_is_changing(const struct claim *c)
{
    return claim_phase_progress(c->phase) == CLAIM_CHANGING;
}

bool claim_is_as_it_was(const struct claim *c, struct assignment_ref now)
{
    return claim_phase_progress(c->phase) == CLAIM_UNCHANGED && *c->from.hash[TIER_STACK] &&
           assignment_same(assignment_ref(&c->from), now);
}

static void claim_put(char out[static REVISION_HASH_MAX], const char *hash)
{
    snprintf(out, REVISION_HASH_MAX, "%s", hash);
}

void claim_keep(struct claim *c, const struct claim *before)
{
    claim_put(c->last_stack, claim_last_stack(before));
    memcpy(c->more, before->more, sizeof c->more);
}

void claim_begin_from(struct claim *c, struct assignment_ref now)
{
    char last[REVISION_HASH_MAX];
    claim_put(last, *str_or_empty(now.hash[TIER_STACK]) ? "" : claim_last_stack(c));
    claim_put(c->last_stack, last);
    assignment_copy(&c->from, now);
}

void claim_stack_leaves(struct claim *c, const char *stack)
{
    if (*stack)
        claim_put(c->last_stack, str_eq(stack, c->from.hash[TIER_STACK]) ? "" : stack);
}

const char *claim_last_stack(const struct claim *c)
{
    return *c->last_stack ? c->last_stack : c->from.hash[TIER_STACK];
}

bool claim_is_for(const struct claim *c, struct assignment_ref target)
{
    bool puts_back = claim_kinds[c->kind].repairs &&
                     assignment_same(assignment_ref(&c->to), assignment_ref(&c->from));
    return puts_back || assignment_same(assignment_ref(&c->to), target);
}

bool claim_drains(const struct claim *c)
{
    return claim_kinds[c->kind].repairs ||
           assignment_drains(assignment_ref(&c->from), assignment_ref(&c->to));
}

bool claim_is_asked(const struct claim *c)
{
    return claim_kinds[c->kind].repairs && c->asked && c->attempt == 1 && c->phase != CLAIM_FAILED;
}

bool claim_is_failed_repair(const struct claim *c)
{
    return claim_kinds[c->kind].repairs && c->phase == CLAIM_FAILED;
}

enum reason claim_reason(const struct claim *c)
{
    return reason_parse(c->reason);
}

/* A drain that timed out has changed nothing: the node is back in service, and the revision is not
 * to blame. */
bool claim_closes(const struct claim *c)
{
    return c->phase != CLAIM_FAILED || claim_reason(c) != REASON_DRAIN_TIMEOUT;
}

bool claim_keeps_node(const struct claim *c)
{
    return c->phase != CLAIM_WAITING && claim_closes(c);
}

/* ---- members of the annotation; each reader accepts only what claim_text() writes */

static bool read_word(const json_t *value, const char *also, size_t max, char *ret)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) >= max || strlen(text) != json_string_length(value))
        return false;
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char) *c) && !strchr(also, *c))
            return false;
    memcpy(ret, text, strlen(text) + 1);
    return true;
}

static bool read_uid(const json_t *value, void *at)
{
    return json_string_length(value) > 0 && read_word(value, "-._", CLAIM_UID_MAX, at);
}

static bool read_hash(const json_t *value, void *at)
{
    return read_word(value, "", REVISION_HASH_MAX, at);
}

static bool read_reason(const json_t *value, void *at)
{
    return read_word(value, "", CLAIM_REASON_MAX, at);
}

static bool claim_read_number(const json_t *value, void *at)
{
    int64_t n = json_integer_value(value);
    memcpy(at, &n, sizeof n);
    return json_is_integer(value) && n >= 0;
}

static bool read_count(const json_t *value, void *at)
{
    json_int_t n = json_integer_value(value);
    *(unsigned *) at = (unsigned) n;
    return json_is_integer(value) && n >= 0 && n <= COUNT_MAX;
}

static bool read_attempt(const json_t *value, void *at)
{
    return read_count(value, at) && *(unsigned *) at > 0;
}

static void write_time(int64_t s, char out[static CLOCK_TEXT_MAX])
{
    clock_rfc3339(s * 1000000, out);
}

static bool claim_read_time(const json_t *value, void *at)
{
    int64_t us = clock_parse_written(json_string_value(value)), s = us / 1000000;
    memcpy(at, &s, sizeof s);
    return us >= 0;
}

static bool read_boot(const json_t *value, void *at)
{
    const char *text = json_string_value(value);
    uint64_t boot = 0;
    bool good = text && strlen(text) == BOOT_DIGITS &&
                strspn(text, "0123456789abcdef") == BOOT_DIGITS;
    if (good)
        boot = strtoull(text, NULL, 16);
    memcpy(at, &boot, sizeof boot);
    return boot != 0;
}

static bool read_flag(const json_t *value, void *at)
{
    *(bool *) at = json_is_true(value);
    return json_is_true(value);
}

static bool read_kind(const json_t *value, void *at)
{
    for (size_t i = 0; i < CLAIM_KIND_COUNT; i++)
        if (str_eq(json_string_value(value), claim_kinds[i].name)) {
            *(enum claim_kind *) at = (enum claim_kind) i;
            return true;
        }
    return false;
}

static bool read_phase(const json_t *value, void *at)
{
    enum claim_phase phase = claim_phase_parse(json_string_value(value));
    *(enum claim_phase *) at = phase;
    return phase != CLAIM_NONE;
}

static const struct member {
    const char *name;
    bool (*read)(const json_t *value, void *at);
    size_t at;
    bool optional; /* left out if empty, because earlier versions do not write it */
} members[] = {
#define AT(field) offsetof(struct claim, field)
    { "policy", read_uid, AT(policy), false },
    { "generation", claim_read_number, AT(generation), false },
    { "kind", read_kind, AT(kind), false },
    { "phase", read_phase, AT(phase), false },
    { "since", claim_read_time, AT(since_s), false },
    { "claimed", claim_read_time, AT(claimed_s), false },
    { "attempt", read_attempt, AT(attempt), false },
    { "gpus", read_count, AT(gpus), false },
#define X(id, name, label, from_name, ...)                                                         \
    { name, read_hash, AT(to.hash[TIER_##id]), false },                                            \
        { from_name, read_hash, AT(from.hash[TIER_##id]), false },
    TIER_ROWS(X)
#undef X
        { "lastStack", read_hash, AT(last_stack), true },
    { "boot", read_boot, AT(boot), true },
    { "asked", read_flag, AT(asked), true },
    { "sentinel", read_flag, AT(sentinel), true },
    { "calledOff", read_reason, AT(called_off), true },
    { "reason", read_reason, AT(reason), false },
#undef AT
};

/* The release of Ostler that understands the claim, as named in it; "": absent. */
static void read_release(const json_t *said, char ret[static RELEASE_MAX])
{
    const char *text = json_str_or_empty(said, "needs");
    size_t len = strspn(text, "0123456789.");
    snprintf(ret, RELEASE_MAX, "%.*s", !text[len] && len < RELEASE_MAX ? (int) len : 0, text);
}

/* Sets `why`, unless it is NULL. Returns false. */
static bool refuse(char *why, const char *fmt, ...) PRINTF(2, 3);
static bool refuse(char *why, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (why)
        vsnprintf(why, CLAIM_WHY_MAX, fmt, args);
    va_end(args);
    return false;
}

/* Whether this version of Ostler may act on the claim. */
static bool check_version(const json_t *said, char *why)
{
    json_int_t v = json_integer_value(json_object_get(said, "v"));
    char release[RELEASE_MAX];
    if (v == VERSION)
        return true;
    if (v < VERSION)
        return refuse(why, "its member v is missing or is not a version");
    read_release(said, release);
    return refuse(
        why, "it needs %s%s (its version is %lld, and this Ostler understands version %d)",
        *release ? "at least Ostler " : "a newer Ostler", release, (long long) v, VERSION);
}

/* Fills `ret` with the known members; false: one is invalid. */
static bool read_members(const json_t *said, struct claim *ret, char *why)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *value = json_object_get(said, members[i].name);
        bool left_out = members[i].optional && !value;
        if (!left_out && !members[i].read(value, (char *) ret + members[i].at))
            return refuse(why, "its member %s is missing or has a value that Ostler does not write",
                          members[i].name);
    }
    bool fits = (ret->phase == CLAIM_FAILED) == (*ret->reason != '\0');
    return fits || refuse(why, "its reason does not fit its phase");
}

/* Keeps the unknown members; false: they are too long. */
static bool keep_more(const json_t *said, struct claim *ret, char *why)
{
    CLEANUP_JSON json_t *more = json_copy((json_t *) said);
    json_object_del(more, "v");
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_object_del(more, members[i].name);
    if (json_object_size(more) == 0)
        return true;
    CLEANUP_FREE char *text = json_compact(more);
    if (strlen(text) >= CLAIM_MORE_MAX)
        return refuse(why, "its members that this Ostler does not know are longer than %d bytes",
                      CLAIM_MORE_MAX - 1);
    snprintf(ret->more, sizeof ret->more, "%s", text);
    return true;
}

bool claim_parse(const char *text, struct claim *ret, char *ret_why)
{
    struct claim c = { 0 };
    size_t len = strnlen(text, CLAIM_TEXT_MAX);
    if (len == CLAIM_TEXT_MAX)
        return refuse(ret_why, "it is too long");
    CLEANUP_JSON json_t *said = json_parse(text, len, NULL);
    if (!json_is_object(said))
        return refuse(ret_why, "it is not a JSON object");
    bool good = check_version(said, ret_why) && read_members(said, &c, ret_why) &&
                keep_more(said, &c, ret_why);
    if (good)
        *ret = c;
    return good;
}

char *claim_text(const struct claim *c)
{
    char since[CLOCK_TEXT_MAX], claimed[CLOCK_TEXT_MAX];
    write_time(c->since_s, since);
    write_time(c->claimed_s, claimed);
    CLEANUP_JSON json_t *said = json_pack(
        "{s:i, s:s, s:I, s:s, s:s, s:s, s:s, s:i, s:i}", "v", VERSION, "policy", c->policy,
        "generation", (json_int_t) c->generation, "kind", claim_kinds[c->kind].name, "phase",
        claim_phase_name(c->phase), "since", since, "claimed", claimed, "attempt", (int) c->attempt,
        "gpus", (int) c->gpus);
    for (enum tier t = 0; t < TIERS; t++)
        json_object_set_new(said, tiers[t].name, json_string(c->to.hash[t]));
    for (enum tier t = 0; t < TIERS; t++)
        json_object_set_new(said, tiers[t].from, json_string(c->from.hash[t]));
    json_object_set_new(said, "reason", json_string(c->reason));
    if (*c->last_stack)
        json_object_set_new(said, "lastStack", json_string(c->last_stack));
    if (c->boot) {
        char boot[BOOT_DIGITS + 1];
        snprintf(boot, sizeof boot, "%016" PRIx64, c->boot);
        json_object_set_new(said, "boot", json_string(boot));
    }
    if (c->asked)
        json_object_set_new(said, "asked", json_true());
    if (c->sentinel)
        json_object_set_new(said, "sentinel", json_true());
    if (*c->called_off)
        json_object_set_new(said, "calledOff", json_string(c->called_off));
    CLEANUP_JSON json_t *more = json_parse(c->more, strlen(c->more), NULL);
    json_object_update_missing(said, more);
    return json_compact(said);
}
