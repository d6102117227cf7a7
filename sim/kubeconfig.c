#include "sim/kubeconfig.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

static char *base64(const char *text)
{
    size_t n = strlen(text);
    char *out = xcalloc(1, 4 * ((n + 2) / 3) + 1);
    EVP_EncodeBlock((unsigned char *) out, (const unsigned char *) text, (int) n);
    return out;
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
    CLEANUP_FREE char *text = kubeconfig_text(k);
    int rc = file_put(AT_FDCWD, path, 0600, text, strlen(text));
    return rc ? err_set(e, ERR_SYSTEM, "cannot write the kubeconfig %s: %s", path, strerror(rc))
              : 0;
}
