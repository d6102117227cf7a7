#include "node/gpus/kept.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/inventory/nvml.h"

/* A line, and the UUID or address that it is about. */
struct kept_line {
    struct part key;
    struct part text;
};

struct kept_lines {
    struct kept_line *items;
    size_t len;
};

enum { KEPT_LINES_MAX = 4096, LINE_MAX_LEN = 64 };

static int part_compare(struct part a, struct part b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void kept_add(struct kept_lines *lines, struct part key, struct part text)
{
    if (lines->len < KEPT_LINES_MAX)
        lines->items[lines->len++] = (struct kept_line){ key, text };
}

static bool has_key(const struct kept_lines *lines, size_t len, struct part key)
{
    for (size_t i = 0; i < len; i++)
        if (part_same(lines->items[i].key, key))
            return true;
    return false;
}

/* Adds memory and MIG devices. Ends at the GPU that hangs: what it said of that one is not all. */
static void add_cards(struct kept_lines *lines, struct part from, const char *hangs)
{
    const size_t before = lines->len;
    struct nvml_line line;
    while (nvml_next(&from, &line)) {
        if (line.kind == NVML_ASKS && part_is(line.address, hangs))
            return;
        if ((line.kind == NVML_CARD || line.kind == NVML_MIG) && !has_key(lines, before, line.uuid))
            kept_add(lines, line.uuid, line.text);
    }
}

static void add_health(struct kept_lines *lines, const struct answer *a, struct buf *hangs)
{
    struct part from = a->said;
    struct nvml_line line;
    while (nvml_next(&from, &line))
        if (line.kind == NVML_HEALTH && !part_is(line.address, a->hangs))
            kept_add(lines, line.address, line.text);
    if (!*a->hangs)
        return;
    buf_printf(hangs, "health %s hangs=true", a->hangs);
    kept_add(lines, part_of(a->hangs), part_of_buf(hangs));
}

/* By key; the lines of one key stay in their order. */
static void print_in_order(struct kept_lines *lines, struct buf *ret)
{
    for (size_t i = 1; i < lines->len; i++) {
        struct kept_line line = lines->items[i];
        size_t at = i;
        for (; at > 0 && part_compare(lines->items[at - 1].key, line.key) > 0; at--)
            lines->items[at] = lines->items[at - 1];
        lines->items[at] = line;
    }
    for (size_t i = 0; i < lines->len; i++)
        buf_printf(ret, "%.*s\n", (int) lines->items[i].text.len, lines->items[i].text.at);
    lines->len = 0;
}

/* The text of the file. `known`: lines of the old one. */
static void kept_compose(const char *first, const struct answer *a, struct part known,
                         struct buf *ret)
{
    CLEANUP_FREE struct kept_line *items = xcalloc(KEPT_LINES_MAX, sizeof *items);
    CLEANUP_BUF struct buf hangs = BUF_INIT(LINE_MAX_LEN);
    struct kept_lines lines = { items, 0 };
    buf_printf(ret, "%s\n", first);
    add_cards(&lines, a->said, a->hangs);
    add_cards(&lines, known, "");
    print_in_order(&lines, ret);
    add_health(&lines, a, &hangs);
    print_in_order(&lines, ret);
    buf_str(ret, "end\n");
}

static void read_old(const char *file, struct buf *ret)
{
    CLEANUP_FD int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || file_read_all(fd, ret) != 0)
        buf_reset(ret);
}

int kept_put(const char *file, const char *first, const struct answer *a, bool *ret_wrote,
             struct err *e)
{
    CLEANUP_BUF struct buf old = BUF_INIT(NVML_TEXT_MAX), text = BUF_INIT(NVML_TEXT_MAX);
    struct part known, known_first;
    read_old(file, &old);
    known = part_of_buf(&old);
    bool same = nvml_is_whole(known) && part_next(&known, '\n', &known_first) &&
                part_is(known_first, first);
    kept_compose(first, a, same ? known : PART(""), &text);
    *ret_wrote = old.len != text.len || memcmp(old.data, text.data, text.len) != 0 ||
                 utimensat(AT_FDCWD, file, NULL, AT_SYMLINK_NOFOLLOW) != 0;
    return *ret_wrote ? file_write(file, 0644, text.data, text.len, e) : 0;
}
