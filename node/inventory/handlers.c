#include "node/inventory/handlers.h"

#include <string.h>

/* The text between the brackets of "[a."b.c".d]"; false: the line starts no table. */
static bool is_table(struct part line, struct part *ret)
{
    const char *end = line.len && line.at[0] == '[' ? memchr(line.at, ']', line.len) : NULL;
    if (!end)
        return false;
    *ret = (struct part){ line.at + 1, (size_t) (end - line.at) - 1 };
    return true;
}

static struct part without_quotes(struct part p)
{
    p = part_trimmed(p);
    bool quoted = p.len >= 2 && (p.at[0] == '"' || p.at[0] == '\'') && p.at[p.len - 1] == p.at[0];
    return quoted ? (struct part){ p.at + 1, p.len - 2 } : p;
}

/* The next key of a dotted path; dots in quotes do not separate keys. */
static bool next_key(struct part *path, struct part *ret)
{
    char quote = 0;
    size_t len = 0;
    if (path->len == 0)
        return false;
    for (; len < path->len && (quote || path->at[len] != '.'); len++) {
        char c = path->at[len];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
    }
    *ret = without_quotes((struct part){ path->at, len });
    *path = part_from(*path, path->at + len + (len < path->len));
    return true;
}

/* NAME in "….runtimes.NAME" and in all tables below it. */
static struct part handlers_runtime_of(struct part path)
{
    struct part key;
    while (next_key(&path, &key))
        if (part_is(key, "runtimes"))
            return next_key(&path, &key) ? key : (struct part){ 0 };
    return (struct part){ 0 };
}

/* The contents of a quoted string, or a bare value without its comment. */
static struct part handlers_value_of(struct part value)
{
    const char *end = value.len && (value.at[0] == '"' || value.at[0] == '\'')
                          ? memchr(value.at + 1, value.at[0], value.len - 1)
                          : NULL;
    if (end)
        return (struct part){ value.at + 1, (size_t) (end - value.at) - 1 };
    struct part before = { 0 };
    part_next(&value, '#', &before);
    return part_trimmed(before);
}

bool handlers_next(struct handlers_lines *lines, struct handlers_line *ret, struct part *whole)
{
    struct part line, table, name, value;
    if (!part_next(&lines->rest, '\n', &line))
        return false;
    if (whole)
        *whole = line;
    line = part_trimmed(line);
    if (is_table(line, &table)) {
        lines->in_table = true;
        lines->runtime = handlers_runtime_of(table);
        *ret = (struct handlers_line){ .runtime = lines->runtime };
        return true;
    }
    *ret = (struct handlers_line){ .runtime = lines->runtime, .top = !lines->in_table };
    if (!part_begins(line, "#") && part_assignment(line, &name, &value)) {
        ret->name = without_quotes(name);
        ret->value = handlers_value_of(value);
    }
    return true;
}

/* Whether it sets the program of its runtime. */
static bool handlers_names_program(const struct handlers_line *line)
{
    return line->runtime.len &&
           (part_is(line->name, "BinaryName") || part_is(line->name, "runtime_path"));
}

bool handlers_names_default(const struct handlers_line *line)
{
    return part_is(line->name, "default_runtime_name") || part_is(line->name, "default_runtime");
}

/* The entry of a runtime, new if necessary; NULL: the list is full. */
static struct handler *handlers_place_of(struct handlers *h, struct part name)
{
    for (size_t i = 0; i < h->len; i++)
        if (part_same(h->items[i].name, name))
            return &h->items[i];
    if (h->len == HANDLERS_MAX)
        return NULL;
    h->items[h->len] = (struct handler){ .name = name };
    return &h->items[h->len++];
}

/* Reads quoted strings up to the bracket that ends the list, on any number of lines. */
static void take_imports(struct part text, struct handlers *ret)
{
    size_t at = 0;
    while (at < text.len && text.at[at] != ']' && ret->imports_len < IMPORTS_MAX) {
        char quote = text.at[at++];
        if (quote != '"' && quote != '\'')
            continue;
        const char *end = memchr(text.at + at, quote, text.len - at);
        if (!end)
            return;
        ret->imports[ret->imports_len++] = (struct part){ text.at + at,
                                                          (size_t) (end - text.at) - at };
        at = (size_t) (end - text.at) + 1;
    }
}

void handlers_read(struct part text, struct handlers *ret)
{
    struct handlers_lines lines = { .rest = text };
    struct handlers_line line;
    const char *end = text.at + text.len;
    *ret = (struct handlers){ 0 };
    while (handlers_next(&lines, &line, NULL)) {
        struct handler *runtime = line.runtime.len ? handlers_place_of(ret, line.runtime) : NULL;
        if (runtime && handlers_names_program(&line))
            runtime->program = line.value;
        if (handlers_names_default(&line))
            ret->standard = line.value;
        if (line.top && part_is(line.name, "imports") && line.value.len)
            take_imports((struct part){ line.value.at, (size_t) (end - line.value.at) }, ret);
    }
}
