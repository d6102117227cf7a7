#include "sim/api/quantity.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define NANO ((__int128) 1000000000)
/* Beyond this the API server caps numbers. */
#define NANO_MAX (NANO * INT64_MAX)

enum { DIGITS_MAX = 24, BASE_POWERS = 6 };

static const struct suffix {
    const char *name;
    int power; /* of 10, or of 2 */
    bool binary;
} suffixes[] = {
    { "n", -9, false }, { "u", -6, false }, { "m", -3, false }, { "", 0, false },
    { "k", 3, false },  { "M", 6, false },  { "G", 9, false },  { "T", 12, false },
    { "P", 15, false }, { "E", 18, false }, { "Ki", 10, true }, { "Mi", 20, true },
    { "Gi", 30, true }, { "Ti", 40, true }, { "Pi", 50, true }, { "Ei", 60, true },
};

/* Multiplies or divides by a power of ten, up where something is cut; false when it grows too
 * large. */
static bool scale(__int128 *number, int power)
{
    for (; power > 0; power--) {
        if (*number > NANO_MAX || *number < -NANO_MAX)
            return *number == 0;
        *number *= 10;
    }
    for (; power < 0; power++)
        *number = *number / 10 + (*number % 10 > 0 ? 1 : 0);
    return true;
}

static bool apply_suffix(const char *text, struct quantity *q)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (!str_eq(suffixes[i].name, text))
            continue;
        q->form = suffixes[i].binary ? QUANTITY_BINARY : QUANTITY_DECIMAL;
        if (!suffixes[i].binary)
            return scale(&q->nano, suffixes[i].power);
        for (int n = 0; n < suffixes[i].power; n++) {
            if (q->nano > NANO_MAX || q->nano < -NANO_MAX)
                return false;
            q->nano *= 2;
        }
        return true;
    }
    int64_t exponent;
    if ((text[0] != 'e' && text[0] != 'E') ||
        !str_parse_int(text + 1 + (text[1] == '+'), -99, 99, &exponent))
        return false;
    q->form = QUANTITY_EXPONENT;
    return scale(&q->nano, (int) exponent);
}

bool quantity_parse(const char *text, struct quantity *ret)
{
    bool negative = *text == '-';
    const char *at = text + (*text == '-' || *text == '+');
    __int128 number = 0;
    int digits = 0, fraction = 0;
    bool point = false;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (++digits > DIGITS_MAX)
            return false;
        number = number * 10 + (*at - '0');
        fraction += point;
    }
    if (digits == 0)
        return false;
    struct quantity q = { .nano = number };
    if (!scale(&q.nano, 9 - fraction) || !apply_suffix(at, &q) || q.nano > NANO_MAX)
        return false;
    q.nano = negative ? -q.nano : q.nano;
    *ret = q;
    return true;
}

bool quantity_is_whole(const struct quantity *q)
{
    return q->nano % NANO == 0;
}

static char *decimal_text(const struct quantity *q)
{
    static const char *const names[] = { "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    __int128 number = q->nano;
    size_t power = 0;
    while (number != 0 && number % 1000 == 0 && power + 1 < ARRAY_LEN(names)) {
        number /= 1000;
        power++;
    }
    if (number == 0)
        return xstrdup("0");
    if (q->form == QUANTITY_EXPONENT && power != 3)
        return xasprintf("%llde%d", (long long) number, ((int) power - 3) * 3);
    return xasprintf("%lld%s", (long long) number, names[power]);
}

char *quantity_text(const struct quantity *q)
{
    static const char *const names[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    __int128 number = (q->nano + NANO - 1) / NANO;
    if (q->form != QUANTITY_BINARY || (number > -1024 && number < 1024))
        return decimal_text(q);
    size_t power = 0;
    while (number % 1024 == 0 && power < BASE_POWERS) {
        number /= 1024;
        power++;
    }
    return xasprintf("%lld%s", (long long) number, names[power]);
}
