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

static const char *const ways[PROOF_WAY_COUNT] = {
#define X(id, name) [PROOF_BY_##id] = name,
    PROOF_WAYS(X)
#undef X
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

/* ---- termination message */

/* A name from nvidia-smi as a label value: blanks become dashes, as in GPU feature discovery. */
static void read_product(const char *value, struct proof_facts *ret)
{
    char label[PROOF_PRODUCT_MAX];
    snprintf(label, sizeof label, "%s", value);
    for (char *c = label; *c; c++)
        if (*c == ' ')
            *c = '-';
    proof_take_text(is_product, label, ret->product, sizeof ret->product);
}

static void read_driver(const char *value, struct proof_facts *ret)
{
    proof_take_text(is_version, value, ret->driver, sizeof ret->driver);
}

static void read_compute(const char *value, struct proof_facts *ret)
{
    proof_take_text(is_version, value, ret->compute, sizeof ret->compute);
}

static void read_cuda(const char *value, struct proof_facts *ret)
{
    proof_take_text(is_version, value, ret->cuda, sizeof ret->cuda);
}

static void read_slice(const char *value, struct proof_facts *ret)
{
    proof_take_text(is_product, value, ret->slice, sizeof ret->slice);
}

static void read_memory(const char *value, struct proof_facts *ret)
{
    int64_t mib;
    if (str_parse_int(value, 1, MEMORY_MAX_MIB, &mib))
        ret->memory_mib = (unsigned) mib;
}

static const struct {
    const char *key;
    void (*read)(const char *value, struct proof_facts *ret);
} words[] = {
    { "driver=", read_driver },   { "product=", read_product }, { "memory=", read_memory },
    { "compute=", read_compute }, { "cuda=", read_cuda },       { "slice=", read_slice },
};

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
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (str_has_prefix(line, words[i].key))
                words[i].read(line + strlen(words[i].key), ret);
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

static bool read_members(const json_t *said, struct proof *ret)
{
    struct proof_facts *f = &ret->facts;
    return json_is_object(said) && json_integer_value(json_object_get(said, "v")) == VERSION &&
           read_way(said, &ret->way) && read_revisions(said, &ret->of) &&
           proof_read_number(said, "gpus", GPUS_MAX, &ret->gpus) &&
           read_optional(said, "version", is_version, f->driver, sizeof f->driver) &&
           read_optional(said, "product", is_product, f->product, sizeof f->product) &&
           read_optional(said, "compute", is_version, f->compute, sizeof f->compute) &&
           read_optional(said, "cuda", is_version, f->cuda, sizeof f->cuda) &&
           read_optional(said, "slice", is_product, f->slice, sizeof f->slice) &&
           proof_read_number(said, "memory", MEMORY_MAX_MIB, &f->memory_mib);
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
    put_text(said, "version", p->facts.driver);
    put_text(said, "product", p->facts.product);
    put_text(said, "compute", p->facts.compute);
    put_text(said, "cuda", p->facts.cuda);
    put_text(said, "slice", p->facts.slice);
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
