#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"

static struct {
    enum log_level level;
    bool json;
} logger = { LOG_INFO, true };

const char *const log_levels[] = { "debug", "info", "warn", "error", NULL };

void log_setup(enum log_level level, bool json)
{
    logger.level = level;
    logger.json = json;
}

/* Escapes what a terminal interprets, so that foreign text cannot forge a line: bytes as \xNN,
 * longer characters as \uNNNN. */
static void print_text(FILE *out, const char *s)
{
    size_t n;
    bool quote = *s == '\0' || strpbrk(s, " \"=\\");
    if (quote)
        fputc('"', out);
    for (; *s; s += n) {
        uint32_t c = str_utf8_first(s, &n);
        char escape[TERMINAL_ESCAPE_MAX];
        if (terminal_obeys(c)) {
            terminal_escape(s, n, escape);
            fputs(escape, out);
        } else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", *s);
        else
            fwrite(s, 1, n, out);
    }
    if (quote)
        fputc('"', out);
}

static void write_json(FILE *out, const char *ts, enum log_level level, const char *msg, va_list ap)
{
    CLEANUP_JSON json_t *line = json_object();
    json_object_set_new(line, "ts", json_text(ts));
    json_object_set_new(line, "level", json_text(log_levels[level]));
    json_object_set_new(line, "msg", json_text(msg));
    const char *key;
    while ((key = va_arg(ap, const char *))) {
        const char *value = va_arg(ap, const char *);
        json_object_set_new(line, key, json_text(value ? value : ""));
    }
    CLEANUP_FREE char *text = terminal_json(line, true);
    fprintf(out, "%s\n", text);
}

static void write_text(FILE *out, const char *ts, enum log_level level, const char *msg, va_list ap)
{
    fprintf(out, "%s %-5s %s", ts, log_levels[level], msg);
    const char *key;
    while ((key = va_arg(ap, const char *))) {
        const char *value = va_arg(ap, const char *);
        fprintf(out, " %s=", key);
        print_text(out, value ? value : "");
    }
    fputc('\n', out);
}

void log_write(enum log_level level, const char *msg, ...)
{
    if (level < logger.level)
        return;
    struct clock clock = clock_system();
    char ts[CLOCK_TEXT_MAX];
    clock_rfc3339_micro(clock_wall_us(&clock), ts);
    /* stderr is unbuffered: building the line first makes it one write, which other threads
     * cannot interleave. */
    CLEANUP_FREE char *line = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&line, &len);
    if (!out)
        return;
    va_list ap;
    va_start(ap, msg);
    if (logger.json)
        write_json(out, ts, level, msg, ap);
    else
        write_text(out, ts, level, msg, ap);
    va_end(ap);
    fclose(out);
    fwrite(line, 1, len, stderr);
}
