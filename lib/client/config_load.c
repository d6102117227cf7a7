#include "client/config_load.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "client/kubeconfig.h"
#include "client/limits.h"
#include "client/proxy.h"

static const char service_account_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/* An environment variable; NULL if unset or empty. */
static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int read_account_file(const char *dir, const char *name, enum material_kind kind,
                             struct config *c, struct err *e)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s", dir, name);
    return material_set_file(&c->materials[kind], kind, path, e);
}

/* The namespace of a service account, from its file; "default" without one. */
static char *read_namespace(const char *dir)
{
    CLEANUP(material_clear) struct material text = { 0 };
    CLEANUP_FREE char *path = xasprintf("%s/namespace", dir);
    return xstrdup(material_set_file(&text, MATERIAL_TOKEN, path, NULL) == 0 ? text.bytes
                                                                             : "default");
}

static int load_account(const char *dir, struct config *c, struct err *e)
{
    const char *host = env("KUBERNETES_SERVICE_HOST");
    const char *port = env("KUBERNETES_SERVICE_PORT");
    if (!host || !port)
        return err_set(e, ERR_INVALID,
                       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set: the "
                       "kubelet sets "
                       "them in a pod, elsewhere give --kubeconfig");
    if (endpoint_of_service(host, port, &c->server, e) < 0 ||
        read_account_file(dir, "ca.crt", MATERIAL_CA, c, e) < 0 ||
        read_account_file(dir, "token", MATERIAL_TOKEN, c, e) < 0)
        return -1;
    c->namespace = read_namespace(dir);
    c->description = xasprintf("the cluster of this pod (%s)", c->server.url);
    return 0;
}

int config_load_in_cluster(const char *dir, struct config *ret, struct err *e)
{
    struct config c = { .compression = true };
    if (load_account(dir, &c, e) < 0) {
        config_clear(&c);
        return err_wrap(e, "in-cluster configuration");
    }
    *ret = c;
    return 0;
}

/* $KUBECONFIG: colon-separated files, without empty ones and repetitions. Cuts the list. */
static size_t split_paths(char *list, char *paths[LIMIT_KUBECONFIG_FILES])
{
    size_t count = 0;
    for (char *path; count < LIMIT_KUBECONFIG_FILES && (path = strsep(&list, ":"));) {
        bool known = !*path;
        for (size_t i = 0; i < count; i++)
            known |= str_eq(paths[i], path);
        if (!known)
            paths[count++] = path;
    }
    return count;
}

static int load_files(char *const *paths, size_t count, const char *context, struct config *ret,
                      struct err *e)
{
    if (kubeconfig_load(paths, count, context, ret, e) < 0)
        return -1;
    if (proxy_take_environment(&ret->server, &ret->proxy_url, e) == 0)
        return 0;
    config_clear(ret);
    return -1;
}

static int load_list(const char *list, const char *context, struct config *ret, struct err *e)
{
    char *paths[LIMIT_KUBECONFIG_FILES];
    CLEANUP_FREE char *copy = xstrdup(list);
    int rc = load_files(paths, split_paths(copy, paths), context, ret, e);
    if (rc < 0 && e && e->kind == ERR_NOT_FOUND)
        err_set(e, ERR_NOT_FOUND, "no file that KUBECONFIG names exists: %s", list);
    return rc;
}

static char *home_kubeconfig(void)
{
    const char *home = env("HOME");
    const struct passwd *user = home ? NULL : getpwuid(getuid());
    if (user)
        home = user->pw_dir;
    return home ? xasprintf("%s/.kube/config", home) : NULL;
}

int config_load(const char *kubeconfig, const char *context, struct config *ret, struct err *e)
{
    if (kubeconfig) {
        char *path = (char *) kubeconfig;
        return load_files(&path, 1, context, ret, e);
    }
    if (env("KUBECONFIG"))
        return load_list(env("KUBECONFIG"), context, ret, e);
    if (!context && env("KUBERNETES_SERVICE_HOST") && env("KUBERNETES_SERVICE_PORT"))
        return config_load_in_cluster(service_account_dir, ret, e);
    CLEANUP_FREE char *home = home_kubeconfig();
    if (home && access(home, F_OK) == 0)
        return load_files(&home, 1, context, ret, e);
    return err_set(
        e, ERR_NOT_FOUND,
        "no cluster is configured: give --kubeconfig FILE, set KUBECONFIG, or run in a pod (there "
        "is no ~/.kube/config either)");
}
