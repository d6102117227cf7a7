#include "client/material.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "client/base64.h"
#include "client/limits.h"
#include "client/trim.h"

/* The name of each kind, and a text that it must contain. */
static const struct kind {
    const char *name;
    const char *mark; /* NULL: a token, which becomes a header */
} kinds[MATERIAL_COUNT] = {
    [MATERIAL_CA] = { "certificate authority", "CERTIFICATE-----" },
    [MATERIAL_CERTIFICATE] = { "client certificate", "CERTIFICATE-----" },
    [MATERIAL_KEY] = { "client key", "PRIVATE KEY-----" },
    [MATERIAL_TOKEN] = { "token", NULL },
};

const char *material_name(enum material_kind kind)
{
    return kinds[kind].name;
}

static bool is_header_safe(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f)
            return false;
    return true;
}

static int check(enum material_kind kind, const char *text, size_t len, struct err *e)
{
    const struct kind *k = &kinds[kind];
    if (len == 0)
        return err_set(e, ERR_INVALID, "the %s is empty", k->name);
    if (k->mark && !memmem(text, len, k->mark, strlen(k->mark)))
        return err_set(e, ERR_INVALID, "the %s is not PEM: no line ends with %s", k->name, k->mark);
    if (!k->mark && !is_header_safe(text, len))
        return err_set(e, ERR_INVALID, "the %s holds white space or control characters", k->name);
    return 0;
}

static void material_replace(struct material *m, const char *text, size_t len)
{
    char *bytes = xcalloc(len + 1, 1);
    memcpy(bytes, text, len);
    if (m->bytes)
        explicit_bzero(m->bytes, m->len);
    free(m->bytes);
    m->bytes = bytes;
    m->len = len;
}

int material_set(struct material *m, enum material_kind kind, const char *text, size_t len,
                 struct err *e)
{
    trim(&text, &len);
    if (check(kind, text, len, e) < 0)
        return -1;
    material_replace(m, text, len);
    return 0;
}

static void wipe(struct buf *b)
{
    if (b->data)
        explicit_bzero(b->data, b->len);
    buf_clear(b);
}

int material_set_base64(struct material *m, enum material_kind kind, const char *base64,
                        struct err *e)
{
    CLEANUP(wipe) struct buf bytes = BUF_INIT(LIMIT_CREDENTIAL_BYTES);
    if (!base64_decode(base64, strlen(base64), &bytes))
        return err_set(e, ERR_INVALID, "the %s is not base64", material_name(kind));
    return material_set(m, kind, buf_text(&bytes), bytes.len, e);
}

static int read_descriptor(int fd, struct buf *ret)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) { /* a pipe or a device could block for ever */
        errno = EINVAL;
        return -1;
    }
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0) {
        if (!buf_add(ret, chunk, (size_t) n)) {
            errno = EFBIG;
            n = -1;
            break;
        }
    }
    explicit_bzero(chunk, sizeof chunk);
    return n < 0 ? -1 : 0;
}

static int material_read_file(const char *path, enum material_kind kind, struct buf *ret,
                              struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = fd < 0 ? -1 : read_descriptor(fd, ret);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return err_set(e, ERR_SYSTEM, "cannot read the %s from %s: %s", material_name(kind), path,
                       strerror(reason));
    return 0;
}

int material_set_file(struct material *m, enum material_kind kind, const char *path, struct err *e)
{
    char *copy = xstrdup(path); /* first: `path` may be the string that is freed */
    free(m->path);
    m->path = copy;
    return material_reread(m, kind, e) < 0 ? -1 : 0;
}

int material_reread(struct material *m, enum material_kind kind, struct err *e)
{
    if (!m->path)
        return 0;
    CLEANUP(wipe) struct buf text = BUF_INIT(LIMIT_CREDENTIAL_BYTES);
    CLEANUP(material_clear) struct material now = { 0 };
    if (material_read_file(m->path, kind, &text, e) < 0)
        return -1;
    if (material_set(&now, kind, buf_text(&text), text.len, e) < 0)
        return err_wrap(e, "%s", m->path);
    if (now.len == m->len && (now.len == 0 || memcmp(now.bytes, m->bytes, now.len) == 0))
        return 0;
    material_replace(m, now.bytes, now.len);
    return 1;
}

void material_clear(struct material *m)
{
    if (m->bytes)
        explicit_bzero(m->bytes, m->len);
    free(m->bytes);
    free(m->path);
    *m = (struct material){ 0 };
}
