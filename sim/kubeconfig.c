#include "sim/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

enum { FILE_MAX = 64 * 1024 };

static char *base64(const char *text)
{
    size_t n = strlen(text);
    char *out = xcalloc(1, 4 * ((n + 2) / 3) + 1);
    EVP_EncodeBlock((unsigned char *) out, (const unsigned char *) text, (int) n);
    return out;
}

static int write_all(int fd, const char *text)
{
    for (size_t n = strlen(text); n > 0;) {
        ssize_t done = write(fd, text, n);
        if (done < 0)
            return -1;
        text += done;
        n -= (size_t) done;
    }
    return 0;
}

int kubeconfig_write(const char *path, const struct kubeconfig *k, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(FILE_MAX);
    CLEANUP_FREE char *authority = base64(k->certificate), *fresh = xasprintf("%s.new", path);
    buf_printf(&text,
               "apiVersion: v1\nkind: Config\ncurrent-context: ostler-sim\n"
               "clusters:\n- name: ostler-sim\n  cluster:\n    server: %s\n    certificate-authority-data: %s\n"
               "users:\n- name: %s\n  user:\n    token: %s\n"
               "contexts:\n- name: ostler-sim\n  context: {cluster: ostler-sim, user: %s}\n",
               k->server, authority, k->user, k->token, k->user);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_SYSTEM, "cannot write the kubeconfig %s: %s", path, strerror(errno));
    int rc = write_all(fd, buf_text(&text));
    if (close(fd) < 0 || rc < 0 || rename(fresh, path) < 0) {
        unlink(fresh);
        return err_set(e, ERR_SYSTEM, "cannot write the kubeconfig %s: %s", path, strerror(errno));
    }
    return 0;
}
