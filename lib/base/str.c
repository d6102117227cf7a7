#include "base/str.h"

#include <string.h>

#include "base/mem.h"

bool str_eq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_has_prefix(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_is_any_of(const char *s, const char *const *words)
{
    while (*words && !str_eq(*words, s))
        words++;
    return *words;
}

bool str_is_option(const char *arg, const char *name, const char **ret_value)
{
    size_t n = strcspn(arg, "=");
    if (strlen(name) != n || memcmp(name, arg, n) != 0)
        return false;
    *ret_value = arg[n] == '=' ? arg + n + 1 : NULL;
    return true;
}

int str_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

const char *str_or_empty(const char *s)
{
    return s ? s : "";
}

uint32_t str_utf8_first(const char *s, size_t *ret_bytes)
{
    unsigned char lead = (unsigned char) *s;
    size_t more = lead < 0x80   ? 0
                  : lead < 0xc2 ? 4
                  : lead < 0xe0 ? 1
                  : lead < 0xf0 ? 2
                  : lead < 0xf5 ? 3
                                : 4;
    *ret_bytes = 1;
    if (more > 3)
        return 0;
    uint32_t c = more ? lead & (0x3fu >> more) : lead;
    for (size_t i = 1; i <= more; i++) {
        if (((unsigned char) s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((unsigned char) s[i] & 0x3f);
    }
    *ret_bytes = more + 1;
    return c;
}

size_t str_utf8_cut(const char *s, size_t max)
{
    size_t n = strnlen(s, max + 1);
    if (n <= max)
        return n;
    n = max;
    /* Continuation bytes are 10xxxxxx: step back to the first byte of the character. */
    while (n > 0 && ((unsigned char) s[n] & 0xC0) == 0x80)
        n--;
    return n;
}

char *str_shortened(const char *s, size_t max)
{
    static const char ellipsis[] = "…";
    const size_t ellipsis_len = sizeof ellipsis - 1;
    if (strnlen(s, max + 1) <= max)
        return xstrdup(s);
    if (max < ellipsis_len)
        return xstrndup(s, str_utf8_cut(s, max));
    return xasprintf("%.*s%s", (int) str_utf8_cut(s, max - ellipsis_len), s, ellipsis);
}

bool str_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = *s == '-';
    const char *p = negative ? s + 1 : s;
    if (*p == '\0')
        return false;
    int64_t value = 0;
    for (; *p; p++) {
        if (*p < '0' || *p > '9')
            return false;
        int digit = *p - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    if (value < min || value > max)
        return false;
    *ret = value;
    return true;
}

static const struct unit {
    const char *name;
    double ms;
} units[] = {
    { "ms", 1 },    { "us", 1e-3 },
    { "µs", 1e-3 }, { "μs", 1e-3 }, /* micro sign and Greek letter */
    { "ns", 1e-6 }, { "s", 1e3 },
    { "m", 60e3 },  { "h", 3600e3 },
};

/* The unit at `p`; the table's order finds the longest name first. */
static const struct unit *unit_at(const char *p)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_has_prefix(p, units[i].name))
            return &units[i];
    return NULL;
}

/* Digits with at most one point; returns the end, or NULL for no digit or far too many. */
static const char *parse_decimal(const char *p, double *ret)
{
    double value = 0, scale = 1;
    int digits = 0;
    bool point = false;
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (++digits > 15)
            return NULL;
        value = value * 10 + (*p - '0');
        if (point)
            scale *= 10;
    }
    *ret = value / scale;
    return digits ? p : NULL;
}

bool str_parse_duration(const char *s, int64_t *ret_ms)
{
    const double limit = 1e15; /* about 31,700 years: far from overflow */
    double total = 0;
    if (str_eq(s, "0")) {
        *ret_ms = 0;
        return true;
    }
    if (*s == '\0')
        return false;
    while (*s) {
        double value;
        const char *end = parse_decimal(s, &value);
        const struct unit *u = end ? unit_at(end) : NULL;
        if (!u)
            return false;
        total += value * u->ms;
        s = end + strlen(u->name);
    }
    if (total > limit)
        return false;
    *ret_ms = (int64_t) (total + 0.5);
    return true;
}

uint64_t str_hash(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t h = 14695981039346656037ULL;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211ULL;
    return h;
}

uint64_t str_hash_id(const char *id)
{
    return id && *id ? str_hash(id, strlen(id)) : 0;
}
