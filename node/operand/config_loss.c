#include "node/operand/config_loss.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct setting {
    char *name;  /* with its tables, "plugins.io.containerd.grpc.v1.cri.sandbox_image"; owned */
    char *value; /* owned */
};

struct settings {
    struct setting *items; /* owned */
    size_t len;
};

static void settings_clear(struct settings *s)
{
    for (size_t i = 0; i < s->len; i++) {
        free(s->items[i].name);
        free(s->items[i].value);
    }
    free(s->items);
}

/* ---- the reader: TOML as containerd writes it, one setting or table header per line; a list may
 * span several lines. */

struct reader {
    char *rest; /* of the text; it is used up */
    struct settings *to;
    char *table;     /* owned; table of the next settings */
    size_t repeated; /* headers of tables in lists so far */
};

/* The next line, trimmed; NULL at the end. */
static char *next_line(struct reader *r)
{
    char *line = strsep(&r->rest, "\n");
    if (!line)
        return NULL;
    line += strspn(line, " \t\r\v\f");
    for (size_t n = strlen(line); n > 0 && isspace((unsigned char) line[n - 1]); n--)
        line[n - 1] = '\0';
    return line;
}

/* The position after the string that starts here; NULL if it does not end. */
static const char *string_end(const char *s)
{
    char quote = *s++;
    for (; *s && *s != quote; s++)
        if (*s == '\\' && quote == '"' && !*++s)
            return NULL;
    return *s ? s + 1 : NULL;
}

/* The number of open brackets at the end of a text; below 0: a string is unterminated or spans
 * several lines. */
static int open_brackets(const char *s)
{
    int open = 0;
    while (s && *s) {
        if (str_has_prefix(s, "\"\"\"") || str_has_prefix(s, "'''"))
            return -1;
        open += (*s == '[' || *s == '{') - (*s == ']' || *s == '}');
        s = *s == '"' || *s == '\'' ? string_end(s) : s + 1;
    }
    return s ? open : -1;
}

/* A name of a table or setting without quotes, whose kind differs between versions; owned. */
static char *bare(const char *name, size_t len)
{
    char *out = xasprintf("%.*s", (int) len, name), *to = out;
    for (const char *from = out; *from; from++)
        if (*from != '"' && *from != '\'' && *from != ' ')
            *to++ = *from;
    *to = '\0';
    return out;
}

/* "[a.b]" or "[[a.b]]". */
static bool read_head(struct reader *r, const char *line)
{
    bool is_list = line[1] == '[';
    size_t skip = is_list ? 2 : 1, len = strlen(line);
    if (len < 2 * skip + 1 || line[len - 1] != ']' || line[len - skip] != ']')
        return false;
    CLEANUP_FREE char *name = bare(line + skip, len - 2 * skip);
    free(r->table);
    r->table = is_list ? xasprintf("%s[%zu].", name, r->repeated++) : xasprintf("%s.", name);
    return true;
}

/* The position of the "=" after the name; NULL: not a setting. */
static const char *equals_sign(const char *line)
{
    while (line && *line && *line != '=')
        line = *line == '"' || *line == '\'' ? string_end(line) : line + 1;
    return line && *line ? line : NULL;
}

/* "name = value". */
static bool read_setting(struct reader *r, const char *line)
{
    const char *sign = equals_sign(line);
    if (!sign || sign == line || r->to->len == CONFIG_SETTINGS_MAX)
        return false;
    char *value = xstrdup(sign + 1 + strspn(sign + 1, " \t")), *more = NULL;
    int open;
    while ((open = open_brackets(value)) > 0 && (more = next_line(r))) {
        char *longer = strlen(value) < CONFIG_DUMP_MAX / 16 ? xasprintf("%s%s", value, more)
                                                            : xstrdup("[");
        free(value);
        value = longer;
    }
    if (open != 0 || !*value) {
        free(value);
        return false;
    }
    CLEANUP_FREE char *name = bare(line, (size_t) (sign - line));
    r->to->items = xreallocarray(r->to->items, r->to->len + 1, sizeof *r->to->items);
    r->to->items[r->to->len++] = (struct setting){ xasprintf("%s%s", r->table, name), value };
    return true;
}

static bool read_lines(struct reader *r)
{
    const char *line;
    bool right = true;
    while (right && (line = next_line(r)))
        right = !*line || *line == '#' ||
                (*line == '[' ? read_head(r, line) : read_setting(r, line));
    return right;
}

static int config_loss_by_name(const void *a, const void *b)
{
    return strcmp(((const struct setting *) a)->name, ((const struct setting *) b)->name);
}

/* False: the text is not a dump. */
static bool read_dump(const char *text, struct settings *ret)
{
    CLEANUP_FREE char *copy = xstrdup(text);
    struct reader r = { .rest = copy, .to = ret, .table = xstrdup("") };
    bool right = strlen(text) <= CONFIG_DUMP_MAX && read_lines(&r);
    free(r.table);
    return right && ret->len > 0;
}

/* ---- the comparison */

/* Last names of settings whose values help and contain no path or secret. */
static const char *const shown[] = {
    "SystemdCgroup", "bin_dir",       "conf_dir", "config_path", "default_runtime_name",
    "runtime_type",  "sandbox_image", "sandbox",  "snapshotter", NULL,
};

static const char *last_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static const char *const empty[] = { "\"\"", "''", "[]", "{}", "0", "false", NULL };

/* Whether the toolkit is expected to change the setting. `now`: the new value; NULL: none. */
static bool may_change(const char *name, const char *now)
{
    if (str_eq(name, "version") || str_eq(name, "imports") || strstr(name, ".runtimes.nvidia"))
        return true;
    if (str_eq(last_name(name), "default_runtime_name"))
        return now && str_has_prefix(now + strspn(now, "\"'"), "nvidia");
    return str_eq(last_name(name), "enable_cdi") && now && str_eq(now, "true");
}

static void config_loss_describe(struct buf *ret, const struct setting *s, const char *now)
{
    bool shows = str_is_any_of(last_name(s->name), shown);
    buf_printf(ret, "%s%.*s", ret->len ? ", " : "", CONFIG_NAME_MAX, s->name);
    if (shows && now)
        buf_printf(ret, " (%.*s became %.*s)", CONFIG_NAME_MAX, s->value, CONFIG_NAME_MAX, now);
    else if (shows)
        buf_printf(ret, " (it was %.*s)", CONFIG_NAME_MAX, s->value);
}

static size_t config_loss_compare(const struct settings *before, const struct settings *after,
                                  struct buf *ret)
{
    size_t lost = 0;
    for (size_t i = 0; i < before->len; i++) {
        const struct setting *was = &before->items[i];
        const struct setting *is = bsearch(was, after->items, after->len, sizeof *was,
                                           config_loss_by_name);
        const char *now = is ? is->value : NULL;
        if ((now && str_eq(now, was->value)) || (!now && str_is_any_of(was->value, empty)) ||
            may_change(was->name, now))
            continue;
        if (lost++ < CONFIG_NAMED_MAX)
            config_loss_describe(ret, was, now);
    }
    if (lost > CONFIG_NAMED_MAX)
        buf_printf(ret, " and %zu more", lost - CONFIG_NAMED_MAX);
    return lost;
}

enum config_loss config_loss(const char *before, const char *after, struct buf *ret)
{
    struct settings was = { 0 }, is = { 0 };
    enum config_loss loss = CONFIG_UNREADABLE;
    if (read_dump(before, &was) && read_dump(after, &is)) {
        qsort(is.items, is.len, sizeof *is.items, config_loss_by_name);
        loss = config_loss_compare(&was, &is, ret) ? CONFIG_LOST : CONFIG_KEPT;
    }
    settings_clear(&was);
    settings_clear(&is);
    return loss;
}
