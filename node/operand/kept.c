#include "node/operand/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

/* The first line of the file on disk. Each copy follows as a line "MODE SIZE PATH", the bytes and a
 * line end. MODE is octal, or "-" for a file that did not exist. */
#define HEAD "ostler keeps these files 1\n"

enum { LINE_MAX_LEN = PATH_MAX + 64, PERMISSIONS = 07777 };

/* Returns 0 or an errno; ENOENT: the file does not exist. */
static int kept_read_file(const char *path, struct buf *into, mode_t *ret_mode)
{
    struct stat st;
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return errno;
    *ret_mode = st.st_mode & PERMISSIONS;
    return S_ISREG(st.st_mode) ? file_read_all(fd, into) : EINVAL;
}

static size_t bytes_left(const struct kept *k)
{
    size_t left = KEPT_BYTES_MAX;
    for (size_t i = 0; i < k->len; i++)
        left -= k->files[i].bytes.len;
    return left;
}

int kept_add(struct kept *k, const char *path, struct err *e)
{
    if (k->len == KEPT_FILES_MAX)
        return err_set(e, ERR_TOO_LARGE, "cannot keep a copy of %s: there are %d already", path,
                       KEPT_FILES_MAX);
    char *real = realpath(path, NULL);
    struct kept_file *file = &k->files[k->len++];
    *file = (struct kept_file){ .path = xstrdup(real ? real : path),
                                .bytes = BUF_INIT(bytes_left(k)) };
    free(real);
    int why = kept_read_file(file->path, &file->bytes, &file->mode);
    file->is_there = why == 0;
    return why && why != ENOENT
               ? err_set(e, ERR_SYSTEM, "cannot keep a copy of %s: %s", path, strerror(why))
               : 0;
}

void kept_copy(struct kept *k, const struct kept_file *file)
{
    if (k->len == KEPT_FILES_MAX)
        return;
    struct kept_file *copy = &k->files[k->len++];
    *copy = (struct kept_file){ .path = xstrdup(file->path),
                                .is_there = file->is_there,
                                .mode = file->mode,
                                .bytes = BUF_INIT(file->bytes.len + 1) };
    if (!buf_add(&copy->bytes, buf_text(&file->bytes), file->bytes.len))
        copy->is_there = false; /* never happens: the buffer is large enough */
}

static bool differs(const struct kept_file *file)
{
    CLEANUP_BUF struct buf now = BUF_INIT(KEPT_BYTES_MAX);
    mode_t mode = 0;
    int why = kept_read_file(file->path, &now, &mode);
    if (!file->is_there)
        return why != ENOENT;
    return why || mode != file->mode || now.len != file->bytes.len ||
           memcmp(buf_text(&now), buf_text(&file->bytes), now.len) != 0;
}

bool kept_differs(const struct kept *k)
{
    for (size_t i = 0; i < k->len; i++)
        if (differs(&k->files[i]))
            return true;
    return false;
}

static int put_back(const struct kept_file *file)
{
    if (!file->is_there)
        return unlink(file->path) < 0 && errno != ENOENT ? errno : 0;
    return file_put(AT_FDCWD, file->path, file->mode, buf_text(&file->bytes), file->bytes.len);
}

int kept_put_back(const struct kept *k, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < k->len; i++) {
        int why = differs(&k->files[i]) ? put_back(&k->files[i]) : 0;
        if (why)
            rc = err_set(e, ERR_SYSTEM, "cannot restore %s: %s", k->files[i].path, strerror(why));
    }
    return rc;
}

int kept_save(const struct kept *k, const char *file, struct err *e)
{
    CLEANUP_BUF struct buf out = BUF_INIT(KEPT_BYTES_MAX + KEPT_FILES_MAX * LINE_MAX_LEN +
                                          sizeof HEAD);
    buf_str(&out, HEAD);
    for (size_t i = 0; i < k->len; i++) {
        const struct kept_file *f = &k->files[i];
        CLEANUP_FREE char *mode = f->is_there ? xasprintf("%o", (unsigned) f->mode) : xstrdup("-");
        buf_printf(&out, "%s %zu %s\n", mode, f->bytes.len, f->path);
        bool fits = buf_add(&out, buf_text(&f->bytes), f->bytes.len) && buf_add(&out, "\n", 1);
        if (!fits)
            return err_set(e, ERR_TOO_LARGE, "cannot write %s: the copies are too large", file);
    }
    return file_write(file, 0600, buf_text(&out), out.len, e);
}

/* The parsed line of a copy. `path` points into the line. */
struct copy_line {
    bool is_there;
    mode_t mode;
    size_t size;
    const char *path;
};

/* False: malformed. */
static bool read_line(const char *line, struct copy_line *ret)
{
    char mode[8], *rest = mode;
    int used = 0;
    if (sscanf(line, "%7s %zu %n", mode, &ret->size, &used) != 2 || line[used] != '/' ||
        strlen(line + used) >= PATH_MAX)
        return false;
    ret->path = line + used;
    ret->is_there = !str_eq(mode, "-");
    unsigned long bits = ret->is_there ? strtoul(mode, &rest, 8) : 0;
    ret->mode = (mode_t) bits;
    return ret->is_there ? !*rest && bits <= PERMISSIONS : ret->size == 0;
}

/* Reads one copy from *at, and moves *at behind it. */
static bool read_copy(struct kept *k, const char **at, const char *end)
{
    char text[LINE_MAX_LEN] = "";
    struct copy_line line;
    const char *eol = memchr(*at, '\n', (size_t) (end - *at)), *bytes;
    if (k->len == KEPT_FILES_MAX || !eol || eol - *at >= LINE_MAX_LEN)
        return false;
    memcpy(text, *at, (size_t) (eol - *at));
    if (!read_line(text, &line) || line.size > bytes_left(k))
        return false;
    bytes = eol + 1;
    if (line.size >= (size_t) (end - bytes) || bytes[line.size] != '\n')
        return false;
    struct kept_file *f = &k->files[k->len++];
    *f = (struct kept_file){ xstrdup(line.path), line.is_there, line.mode,
                             BUF_INIT(KEPT_BYTES_MAX) };
    *at = bytes + line.size + 1;
    return buf_add(&f->bytes, bytes, line.size);
}

bool kept_read(struct kept *k, const char *bytes, size_t len)
{
    const char *at = bytes + sizeof HEAD - 1, *end = bytes + len;
    if (len < sizeof HEAD - 1 || memcmp(bytes, HEAD, sizeof HEAD - 1) != 0)
        return false;
    while (at < end)
        if (!read_copy(k, &at, end))
            return false;
    return true;
}

int kept_load(struct kept *k, const char *file, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(KEPT_BYTES_MAX + KEPT_FILES_MAX * LINE_MAX_LEN +
                                           sizeof HEAD);
    mode_t mode;
    int why = kept_read_file(file, &text, &mode);
    if (why == ENOENT)
        return 0;
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot read %s: %s", file, strerror(why));
    if (kept_read(k, buf_text(&text), text.len))
        return 1;
    kept_clear(k);
    return err_set(e, ERR_INVALID, "this version of Ostler cannot read the copies in %s", file);
}

void kept_clear(struct kept *k)
{
    for (size_t i = 0; i < k->len; i++) {
        free(k->files[i].path);
        buf_clear(&k->files[i].bytes);
    }
    *k = (struct kept){ 0 };
}
