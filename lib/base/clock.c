#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLOCKS_APART_S = 600 };

int64_t clock_mono_ms(const struct clock *c)
{
    return c->mono_ms(c->self);
}

int64_t clock_wall_us(const struct clock *c)
{
    return c->wall_us(c->self);
}

static int64_t system_mono_ms(void *self)
{
    (void) self;
    struct timespec ts;
    clock_gettime(CLOCK_BOOTTIME, &ts);
    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t system_wall_us(void *self)
{
    (void) self;
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_now_ms(void)
{
    return system_mono_ms(NULL);
}

struct clock clock_system(void)
{
    return (struct clock){ .mono_ms = system_mono_ms, .wall_us = system_wall_us };
}

static size_t date_text(int64_t wall_us, char out[static CLOCK_TEXT_MAX])
{
    time_t seconds = (time_t) (wall_us / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    return strftime(out, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
}

void clock_rfc3339(int64_t wall_us, char out[static CLOCK_TEXT_MAX])
{
    size_t n = date_text(wall_us, out);
    snprintf(out + n, CLOCK_TEXT_MAX - n, "Z");
}

void clock_rfc3339_micro(int64_t wall_us, char out[static CLOCK_TEXT_MAX])
{
    size_t n = date_text(wall_us, out);
    snprintf(out + n, CLOCK_TEXT_MAX - n, ".%06dZ", (int) (wall_us % 1000000));
}

bool clock_is_ahead(int64_t time_s, int64_t now_s)
{
    return time_s > now_s && (uint64_t) time_s - (uint64_t) now_s > CLOCKS_APART_S;
}

/* Microseconds from ".123456Z" or "Z"; -1 if it is neither. */
static int64_t parse_fraction(const char *p)
{
    int64_t us = 0, unit = 100000;
    if (*p == '.') {
        if (p[1] == 'Z')
            return -1;
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
            us += (*p - '0') * unit;
    }
    return strcmp(p, "Z") == 0 ? us : -1;
}

int64_t clock_parse_rfc3339(const char *text)
{
    struct tm tm = { 0 };
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    int64_t fraction = rest ? parse_fraction(rest) : -1;
    if (fraction < 0)
        return -1;
    /* strptime() accepts spaces for zeros and February 30 for March: accept only text that
     * formats back to itself. */
    int64_t us = (int64_t) timegm(&tm) * 1000000;
    char again[CLOCK_TEXT_MAX];
    size_t n = date_text(us, again);
    return us < 0 || strncmp(text, again, n) != 0 ? -1 : us + fraction;
}

int64_t clock_parse_written(const char *text)
{
    int64_t us = clock_parse_rfc3339(text);
    char written[CLOCK_TEXT_MAX] = "";
    if (us >= 0)
        clock_rfc3339(us, written);
    return us >= 0 && strcmp(text, written) == 0 ? us : -1;
}
