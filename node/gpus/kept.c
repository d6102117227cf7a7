#include "node/gpus/kept.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "node/inventory/nvml.h"

static void add_line(struct buf *text, const struct nvml_line *line)
{
    buf_printf(text, "%.*s\n", (int) line->text.len, line->text.at);
}

static void add_cards(struct buf *text, struct part from)
{
    struct nvml_line line;
    while (nvml_next(&from, &line))
        if (line.kind == NVML_CARD || line.kind == NVML_MIG)
            add_line(text, &line);
}

static void add_health(struct buf *text, const struct answer *a)
{
    struct part from = a->said;
    struct nvml_line line;
    while (nvml_next(&from, &line))
        if (line.kind == NVML_HEALTH && !part_is(line.address, a->hangs))
            add_line(text, &line);
    if (*a->hangs)
        buf_printf(text, "health %s hangs=true\n", a->hangs);
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
    buf_printf(&text, "%s\n", first);
    if (a->is_whole || same)
        add_cards(&text, a->is_whole ? a->said : known);
    add_health(&text, a);
    buf_str(&text, "end\n");
    *ret_wrote = old.len != text.len || memcmp(old.data, text.data, text.len) != 0 ||
                 utimensat(AT_FDCWD, file, NULL, AT_SYMLINK_NOFOLLOW) != 0;
    return *ret_wrote ? file_write(file, 0644, text.data, text.len, e) : 0;
}
