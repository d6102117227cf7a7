#include "node/inventory/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* SYSLOG_ACTION_READ_ALL of the kernel: the last messages, without removing any. */
enum { READ_ALL = 3 };
enum { FACILITY_SHIFT = 3, PRIORITY_MAX = 0xffff, US_DIGITS = 6, US = 1000 * 1000 };
enum { SECONDS_MAX = 1 << 30 };

static void drop_first_line(struct kernel_log *l)
{
    const char *end = l->len ? memchr(l->at, '\n', l->len) : NULL;
    size_t cut = end ? (size_t) (end - l->at) + 1 : l->len;
    memmove(l->at, l->at + cut, l->len - cut);
    l->len -= cut;
}

/* The end of a regular file. */
static ssize_t read_file(const char *file, struct kernel_log *l)
{
    CLEANUP_FD int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    off_t from = st.st_size > (off_t) l->size ? st.st_size - (off_t) l->size : 0;
    ssize_t n = pread(fd, l->at, l->size, from);
    l->len = n > 0 ? (size_t) n : 0;
    if (from > 0)
        drop_first_line(l);
    return n;
}

static ssize_t read_kernel(struct kernel_log *l)
{
    int n = klogctl(READ_ALL, l->at, (int) l->size);
    l->len = n > 0 ? (size_t) n : 0;
    return n;
}

int kernel_log_read(const char *file, size_t max, struct kernel_log *ret)
{
    void *at = mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *ret = (struct kernel_log){ 0 };
    if (at == MAP_FAILED)
        return errno;
    *ret = (struct kernel_log){ .at = at, .size = max };
    ssize_t n = *file ? read_file(file, ret) : read_kernel(ret);
    int why = n < 0 ? errno : 0;
    if (why)
        kernel_log_close(ret);
    return why;
}

void kernel_log_close(struct kernel_log *l)
{
    if (l->at)
        munmap(l->at, l->size);
    *l = (struct kernel_log){ 0 };
}

/* "<6>". */
static bool take_priority(struct part *p, bool *ret_by_kernel)
{
    struct part rest = *p, number;
    int64_t priority;
    if (!part_skip(&rest, "<") || !part_next(&rest, '>', &number) ||
        !part_number(number, PRIORITY_MAX, &priority))
        return false;
    *ret_by_kernel = priority >> FACILITY_SHIFT == 0;
    *p = rest;
    return true;
}

/* "[   12.345678] ". */
static bool take_stamp(struct part *p, int64_t *ret_us)
{
    struct part rest = *p, inside, seconds;
    int64_t s, us;
    if (!part_skip(&rest, "[") || !part_next(&rest, ']', &inside) ||
        !part_next(&inside, '.', &seconds) || inside.len != US_DIGITS ||
        !part_number(part_trimmed(seconds), SECONDS_MAX, &s) || !part_number(inside, US, &us))
        return false;
    *ret_us = s * US + us;
    *p = rest;
    return true;
}

/* "[ T1234]" or "[ C12]", the writer, in kernels with CONFIG_PRINTK_CALLER. */
static bool skip_caller(struct part *p)
{
    struct part rest = *p, inside;
    int64_t number;
    if (!part_skip(&rest, "[") || !part_next(&rest, ']', &inside))
        return false;
    inside = part_trimmed(inside);
    if ((!part_skip(&inside, "T") && !part_skip(&inside, "C")) ||
        !part_number(inside, INT64_MAX, &number))
        return false;
    *p = rest;
    return true;
}

bool kernel_log_next(struct part *text, struct kernel_log_line *line)
{
    const struct part before = line->prefix;
    *line = (struct kernel_log_line){ .stamp_us = -1 };
    do {
        if (!part_next(text, '\n', &line->whole))
            return false;
        line->text = line->whole;
    } while (!take_priority(&line->text, &line->by_kernel));
    bool has_stamp = take_stamp(&line->text, &line->stamp_us),
         has_caller = skip_caller(&line->text);
    line->prefix = (struct part){ line->whole.at, line->whole.len - line->text.len };
    line->continues = part_same(line->prefix, before);
    if (has_stamp || has_caller)
        part_skip(&line->text, " ");
    return true;
}

bool kernel_log_has_stamps(struct part text)
{
    struct kernel_log_line line = { 0 };
    while (kernel_log_next(&text, &line))
        if (line.stamp_us < 0)
            return false;
    return true;
}
