#include "reconcilers/model/proof.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

enum {
    VERSION = 1,
    MEMORY_MAX_MIB = 1 << 24, /* 16 TiB: no GPU has more */
    GPUS_MAX = 1 << 20,
    LINE_MAX_LEN = 160,
};

#define MEMORY_WORD "memory="

/* Names in the annotation. */
static const char *const ways[PROOF_WAY_COUNT] = {
    [PROOF_BY_POD] = "Pod",
    [PROOF_BY_COUNT] = "Count",
};

/* ---- values */

/* Numbers with dots between them, as in versions. */
static bool is_version(const char *text)
{
    bool digit = false;
    for (const char *c = text; *c; c++) {
        if (*c == '.' ? !digit : !isdigit((unsigned char) *c))
            return false;
        digit = *c != '.';
    }
    return digit && strlen(text) < PROOF_VERSION_MAX;
}

static bool is_product(const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || len >= PROOF_PRODUCT_MAX || !isalnum((unsigned char) text[0]) ||
        !isalnum((unsigned char) text[len - 1]))
        return false;
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char) *c) && !strchr("-_.", *c))
            return false;
    return true;
}

static bool is_hash(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char) *c))
            return false;
    return strlen(text) < REVISION_HASH_MAX;
}

static bool proof_take_text(bool (*good)(const char *text), const char *text, char *ret,
                            size_t size)
{
    if (text && strlen(text) < size && good(text))
        return snprintf(ret, size, "%s", text) >= 0;
    return false;
}

/* The texts of struct proof_facts. */
static const struct fact {
    const char *word, *member; /* in the termination message, in the annotation */
    bool (*good)(const char *text);
    size_t at, size;
    bool named; /* a name from nvidia-smi, as a label value in the annotation */
} facts[] = {
#define AT(field) offsetof(struct proof_facts, field), sizeof((struct proof_facts *) 0)->field
    { "driver=", "version", is_version, AT(driver), false },
    { "product=", "product", is_product, AT(product), true },
    { "compute=", "compute", is_version, AT(compute), false },
    { "cuda=", "cuda", is_version, AT(cuda), false },
    { "slice=", "slice", is_product, AT(slice), false },
#undef AT
};

/* ---- termination message */

/* In label values blanks become dashes, as in GPU feature discovery. */
static void read_word(const struct fact *f, char *value, struct proof_facts *ret)
{
    for (char *c = value; f->named && *c; c++)
        if (*c == ' ')
            *c = '-';
    if (f->named)
        value[strnlen(value, f->size - 1)] = '\0';
    proof_take_text(f->good, value, (char *) ret + f->at, f->size);
}

static void read_line(char *line, struct proof_facts *ret)
{
    int64_t mib;
    if (str_has_prefix(line, MEMORY_WORD) &&
        str_parse_int(line + strlen(MEMORY_WORD), 1, MEMORY_MAX_MIB, &mib))
        ret->memory_mib = (unsigned) mib;
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (str_has_prefix(line, facts[i].word))
            read_word(&facts[i], line + strlen(facts[i].word), ret);
}

void proof_read(const char *said, struct proof_facts *ret)
{
    *ret = (struct proof_facts){ 0 };
    for (const char *at = said; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[LINE_MAX_LEN];
        size_t len = strcspn(at, "\r\n");
        if (len >= sizeof line)
            continue;
        memcpy(line, at, len);
        line[len] = '\0';
        read_line(line, ret);
    }
}

/* ---- the annotation */

/* A member that is left out if it is "". */
static bool read_optional(const json_t *said, const char *key, bool (*good)(const char *text),
                          char *ret, size_t size)
{
    const json_t *value = json_object_get(said, key);
    return !value || proof_take_text(good, json_string_value(value), ret, size);
}

static bool proof_read_number(const json_t *said, const char *key, int64_t max, unsigned *ret)
{
    const json_t *value = json_object_get(said, key);
    json_int_t n = json_integer_value(value);
    *ret = (unsigned) n;
    return !value || (json_is_integer(value) && n >= 0 && n <= max);
}

static bool read_way(const json_t *said, enum proof_way *ret)
{
    for (int i = 0; i < PROOF_WAY_COUNT; i++)
        if (str_eq(json_str(said, "by"), ways[i])) {
            *ret = (enum proof_way) i;
            return true;
        }
    return false;
}

static bool read_revisions(const json_t *said, struct assignment *ret)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (!read_optional(said, tiers[t].name, is_hash, ret->hash[t], REVISION_HASH_MAX))
            return false;
    return true;
}

static bool read_facts(const json_t *said, struct proof_facts *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (!read_optional(said, facts[i].member, facts[i].good, (char *) ret + facts[i].at,
                           facts[i].size))
            return false;
    return proof_read_number(said, "memory", MEMORY_MAX_MIB, &ret->memory_mib);
}

static bool read_members(const json_t *said, struct proof *ret)
{
    return json_is_object(said) && json_integer_value(json_object_get(said, "v")) == VERSION &&
           read_way(said, &ret->way) && read_revisions(said, &ret->of) &&
           proof_read_number(said, "gpus", GPUS_MAX, &ret->gpus) && read_facts(said, &ret->facts);
}

bool proof_parse(const char *text, struct proof *ret)
{
    struct proof p = { 0 };
    size_t len = strnlen(str_or_empty(text), PROOF_TEXT_MAX);
    if (len == 0 || len >= PROOF_TEXT_MAX)
        return false;
    CLEANUP_JSON json_t *said = json_parse(text, len, NULL);
    bool good = said && read_members(said, &p);
    if (good)
        *ret = p;
    return good;
}

static void put_text(json_t *said, const char *key, const char *text)
{
    if (*text)
        json_object_set_new(said, key, json_string(text));
}

char *proof_text(const struct proof *p)
{
    CLEANUP_JSON json_t *said = json_pack("{s:i, s:s, s:i}", "v", VERSION, "by", ways[p->way],
                                          "gpus", (int) p->gpus);
    for (enum tier t = 0; t < TIERS; t++)
        put_text(said, tiers[t].name, p->of.hash[t]);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        put_text(said, facts[i].member, (const char *) &p->facts + facts[i].at);
    if (p->facts.memory_mib)
        json_object_set_new(said, "memory", json_integer(p->facts.memory_mib));
    return json_compact(said);
}

bool proof_is_of(const struct proof *p, struct assignment_ref runs)
{
    return *str_or_empty(runs.hash[TIER_STACK]) && assignment_same(assignment_ref(&p->of), runs);
}

/* ---- versions */

bool proof_version_fits(const char *wanted, const char *said)
{
    if (!wanted || !is_version(wanted) || !*said)
        return true;
    size_t len = strlen(wanted);
    return strncmp(wanted, said, len) == 0 &&
           (said[len] == '\0' || (said[len] == '.' && !strchr(wanted, '.')));
}
