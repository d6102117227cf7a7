#include "base/yaml_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct yaml_line {
    uint64_t path;
    int line;
};

struct yaml_lines {
    struct yaml_line *items;
    size_t len;
    size_t cap;
};

const uint64_t yaml_path_root = 14695981039346656037u; /* FNV-1a, 64 bits */

static uint64_t path_add(uint64_t path, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        path = (path ^ (unsigned char) bytes[i]) * 1099511628211u;
    return path;
}

uint64_t yaml_path_of_key(uint64_t parent, const char *key)
{
    uint64_t path = parent == yaml_path_root ? parent : path_add(parent, ".", 1);
    return path_add(path, key, strlen(key));
}

uint64_t yaml_path_of_index(uint64_t parent, size_t index)
{
    char text[32];
    int n = snprintf(text, sizeof text, "[%zu]", index);
    return path_add(parent, text, (size_t) n);
}

struct yaml_lines *yaml_lines_new(void)
{
    return xcalloc(1, sizeof(struct yaml_lines));
}

void yaml_lines_note(struct yaml_lines *lines, uint64_t path, int line)
{
    if (!lines)
        return;
    if (lines->len == lines->cap) {
        lines->cap = lines->cap ? lines->cap * 2 : 64;
        lines->items = xreallocarray(lines->items, lines->cap, sizeof *lines->items);
    }
    lines->items[lines->len++] = (struct yaml_line){ .path = path, .line = line };
}

void yaml_lines_reset(struct yaml_lines *lines)
{
    if (lines)
        lines->len = 0;
}

static int yaml_lines_compare(const void *a, const void *b)
{
    const struct yaml_line *x = a, *y = b;
    return (x->path > y->path) - (x->path < y->path);
}

void yaml_lines_finish(struct yaml_lines *lines)
{
    if (lines && lines->len)
        qsort(lines->items, lines->len, sizeof *lines->items, yaml_lines_compare);
}

static int yaml_lines_find(const struct yaml_lines *lines, uint64_t path)
{
    const struct yaml_line key = { .path = path };
    const struct yaml_line *found = lines->len ? bsearch(&key, lines->items, lines->len, sizeof key,
                                                         yaml_lines_compare)
                                               : NULL;
    return found ? found->line : 0;
}

int yaml_line_of(const struct yaml_lines *lines, const char *path)
{
    if (!lines)
        return 0;
    size_t n = strlen(path);
    while (n > 0) {
        int line = yaml_lines_find(lines, path_add(yaml_path_root, path, n));
        if (line)
            return line;
        /* go to the parent: cut at the separator */
        while (n > 0 && path[n - 1] != '.' && path[n - 1] != '[')
            n--;
        n -= n > 0;
    }
    return yaml_lines_find(lines, yaml_path_root);
}

void yaml_lines_free(struct yaml_lines *lines)
{
    if (!lines)
        return;
    free(lines->items);
    free(lines);
}
