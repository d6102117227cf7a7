#include "client/config.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "client/kubeconfig.h"
#include "client/limits.h"
#include "client/plugin.h"
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
    struct material text = { 0 };
    CLEANUP_ERR struct err ignored = { 0 };
    CLEANUP_FREE char *path = xasprintf("%s/namespace", dir);
    int rc = material_set_file(&text, MATERIAL_TOKEN, path, &ignored);
    char *namespace = xstrdup(rc == 0 ? text.bytes : "default");
    material_clear(&text);
    return namespace;
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
    struct config c = { .user_agent = xstrdup("ostler"),
                        .compression = true,
                        .read_at_ms = INT64_MIN };
    if (load_account(dir, &c, e) < 0) {
        config_clear(&c);
        return err_wrap(e, "in-cluster configuration");
    }
    *ret = c;
    return 0;
}

/* $KUBECONFIG: colon-separated files, without empty ones and repetitions. */
static size_t split_paths(const char *list, char *paths[LIMIT_KUBECONFIG_FILES])
{
    size_t count = 0;
    while (*list && count < LIMIT_KUBECONFIG_FILES) {
        size_t n = strcspn(list, ":");
        char *path = xstrndup(list, n);
        bool known = n == 0;
        for (size_t i = 0; i < count; i++)
            known = known || str_eq(paths[i], path);
        if (known)
            free(path);
        else
            paths[count++] = path;
        list += n + (list[n] == ':');
    }
    return count;
}

static int load_files(char *const *paths, size_t count, const char *context, struct config *ret,
                      struct err *e)
{
    if (kubeconfig_load(paths, count, context, ret, e) < 0)
        return -1;
    if (proxy_take_environment(ret, e) == 0)
        return 0;
    config_clear(ret);
    return -1;
}

static int load_list(const char *list, const char *context, struct config *ret, struct err *e)
{
    char *paths[LIMIT_KUBECONFIG_FILES] = { NULL };
    size_t count = split_paths(list, paths);
    int rc = load_files(paths, count, context, ret, e);
    if (rc < 0 && e && e->kind == ERR_NOT_FOUND)
        err_set(e, ERR_NOT_FOUND, "none of the files that KUBECONFIG names is there: %s", list);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
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

void config_call(struct config *c, const char *program, const char *version)
{
    free(c->user_agent);
    c->user_agent = xasprintf("%s/%s", program, version);
}

static void refresh_files(struct config *c)
{
    for (enum material_kind kind = 0; kind < MATERIAL_COUNT; kind++) {
        CLEANUP_ERR struct err e = { 0 };
        int changed = material_reread(&c->materials[kind], kind, &e);
        if (changed < 0)
            log_warn("cannot renew the credentials: Ostler keeps the old ones", "reason",
                     err_msg(&e));
        if (changed <= 0)
            continue;
        log_info("credentials were renewed", "what", material_name(kind), "file",
                 c->materials[kind].path);
        c->tls_generation += kind != MATERIAL_TOKEN;
    }
}

/* The `status` of an ExecCredential. */
static int take_credential(struct config *c, const json_t *status, int64_t now_ms, struct err *e)
{
    static const struct {
        const char *field;
        enum material_kind kind;
    } fields[] = { { "token", MATERIAL_TOKEN },
                   { "clientCertificateData", MATERIAL_CERTIFICATE },
                   { "clientKeyData", MATERIAL_KEY } };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const char *text = json_key(status, fields[i].field);
        if (!text)
            continue;
        if (material_set(&c->materials[fields[i].kind], fields[i].kind, text, strlen(text), e) < 0)
            return err_wrap(e, "the credential program's %s", fields[i].field);
        c->tls_generation += fields[i].kind == MATERIAL_CERTIFICATE;
    }
    const struct clock clock = clock_system();
    const char *expiry = json_key(status, "expirationTimestamp");
    int64_t expiry_us = expiry ? clock_parse_rfc3339(expiry) : -1;
    int64_t valid_ms = (expiry_us - clock_wall_us(&clock)) / 1000 - PLUGIN_MARGIN_MS;
    c->renew_at_ms = expiry_us < 0
                         ? INT64_MAX
                         : now_ms + (valid_ms > PLUGIN_PAUSE_MS ? valid_ms : PLUGIN_PAUSE_MS);
    return 0;
}

int config_run_plugin(struct config *c, struct err *e)
{
    const struct clock clock = clock_system();
    CLEANUP_JSON json_t *status = NULL;
    c->ran_at_ms = clock_mono_ms(&clock);
    if (plugin_run(c->plugin, &status, e) < 0)
        return -1;
    return take_credential(c, status, clock_mono_ms(&clock), e);
}

/* Starts the plugin if it is due, or checks whether it is done. */
static void refresh_plugin(struct config *c, int64_t now_ms)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *status = NULL;
    int rc = 0;
    if (plugin_is_running(c->plugin)) {
        rc = plugin_poll(c->plugin, now_ms, &status, &e);
        if (rc > 0)
            rc = take_credential(c, status, now_ms, &e);
    } else if (now_ms >= c->renew_at_ms) {
        c->ran_at_ms = now_ms;
        c->renew_at_ms = now_ms + PLUGIN_PAUSE_MS; /* until it sets its own time */
        rc = plugin_start(c->plugin, now_ms, &e);
    }
    if (rc < 0)
        log_warn("cannot renew the credentials: Ostler keeps the old ones", "reason", err_msg(&e));
}

void config_refresh(struct config *c, int64_t now_ms)
{
    if (c->plugin)
        refresh_plugin(c, now_ms);
    if (c->read_at_ms != INT64_MIN && now_ms - c->read_at_ms < CREDENTIAL_REREAD_MS)
        return;
    c->read_at_ms = now_ms;
    refresh_files(c);
}

void config_doubt(struct config *c)
{
    c->read_at_ms = INT64_MIN;
    if (c->renew_at_ms > c->ran_at_ms + PLUGIN_PAUSE_MS)
        c->renew_at_ms = c->ran_at_ms + PLUGIN_PAUSE_MS;
}

const char *config_token(const struct config *c)
{
    return c->server.tls ? c->materials[MATERIAL_TOKEN].bytes : NULL;
}

void config_clear(struct config *c)
{
    endpoint_clear(&c->server);
    free(c->description);
    free(c->namespace);
    free(c->user_agent);
    free(c->tls_server_name);
    free(c->proxy_url);
    for (enum material_kind kind = 0; kind < MATERIAL_COUNT; kind++)
        material_clear(&c->materials[kind]);
    plugin_free(c->plugin);
    *c = (struct config){ 0 };
}
