#include "sim/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"

static char *base64(const char *text)
{
    size_t n = strlen(text);
    char *out = xcalloc(1, 4 * ((n + 2) / 3) + 1);
    EVP_EncodeBlock((unsigned char *) out, (const unsigned char *) text, (int) n);
    return out;
}

static int kubeconfig_write_all(int fd, const char *text)
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

/* JSON is valid YAML: every reader of kubeconfigs accepts it. */
static char *kubeconfig_text(const struct kubeconfig *k)
{
    CLEANUP_FREE char *authority = base64(k->certificate);
    const char *cluster = "ostler-sim";
    CLEANUP_JSON json_t *config = json_pack(
        "{s:s, s:s, s:s, s:[{s:s, s:{s:s, s:s}}], s:[{s:s, s:{s:s}}], s:[{s:s, s:{s:s, "
        "s:s}}]}",
        "apiVersion", "v1", "kind", "Config", "current-context", cluster, "clusters", "name",
        cluster, "cluster", "server", k->server, "certificate-authority-data", authority, "users",
        "name", k->user, "user", "token", k->token, "contexts", "name", cluster, "context",
        "cluster", cluster, "user", k->user);
    return json_dumps(config, JSON_INDENT(1));
}

int kubeconfig_write(const char *path, const struct kubeconfig *k, struct err *e)
{
    CLEANUP_FREE char *text = kubeconfig_text(k), *fresh = xasprintf("%s.new", path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_SYSTEM, "cannot write the kubeconfig %s: %s", path, strerror(errno));
    int rc = kubeconfig_write_all(fd, text);
    if (close(fd) < 0 || rc < 0 || rename(fresh, path) < 0) {
        unlink(fresh);
        return err_set(e, ERR_SYSTEM, "cannot write the kubeconfig %s: %s", path, strerror(errno));
    }
    return 0;
}
