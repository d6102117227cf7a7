#include "client/kubeconfig.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "client/base64.h"
#include "client/limits.h"
#include "client/plugin.h"
#include "client/proxy.h"

enum { NAMES_SHOWN_MAX = 400 };

/* A cluster, user or context, and its file: relative paths start there. */
struct entry {
    const char *name;
    const json_t *body;
    const char *file;
};

/* The two forms of one credential: inline (base64), which wins, or a file. */
struct material_fields {
    enum material_kind kind;
    const char *data;
    const char *file;
};

static const struct material_fields ca_fields = { MATERIAL_CA, "certificate-authority-data",
                                                  "certificate-authority" };
static const struct material_fields certificate_fields = { MATERIAL_CERTIFICATE,
                                                           "client-certificate-data",
                                                           "client-certificate" };
static const struct material_fields key_fields = { MATERIAL_KEY, "client-key-data", "client-key" };

/* Fields of a user that Ostler does not support and must not silently ignore. */
static const struct refusal {
    const char *field;
    const char *advice;
} refusals[] = {
    { "auth-provider", "uses auth-provider, which Kubernetes removed: give a kubeconfig with a "
                       "token or a client certificate" },
    { "username", "uses a password, which Kubernetes removed: give a kubeconfig with a token or a "
                  "client certificate" },
    { "as", "impersonates a user, which Ostler does not support: give a kubeconfig of that user" },
    { "as-uid",
      "impersonates a user, which Ostler does not support: give a kubeconfig of that user" },
    { "as-groups",
      "impersonates groups, which Ostler does not support: give a kubeconfig of a user in them" },
};

/* A string member; NULL if absent, empty or of another type. */
static const char *kubeconfig_text_of(const json_t *body, const char *key)
{
    const char *text = json_key(body, key);
    return text && *text ? text : NULL;
}

/* The existing names, for the error about a missing one. */
static char *names_in(const struct kubeconfig_file *files, size_t count, const char *list)
{
    CLEANUP_BUF struct buf names = BUF_INIT(NAMES_SHOWN_MAX);
    for (size_t f = 0; f < count; f++) {
        JSON_EACH (item, json_object_get(files[f].root, list)) {
            const char *name = kubeconfig_text_of(item, "name");
            CLEANUP_FREE char *text = name ? xasprintf("%s%s", names.len ? ", " : "", name) : NULL;
            if (text && !buf_add(&names, text, strlen(text)))
                return buf_take(&names);
        }
    }
    return names.len ? buf_take(&names) : xstrdup("none");
}

static int kubeconfig_find(const struct kubeconfig_file *files, size_t count, const char *member,
                           const char *name, struct entry *ret, struct err *e)
{
    CLEANUP_FREE char *list = xasprintf("%ss", member);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_find(json_object_get(files[i].root, list), "name", name);
        *ret = (struct entry){ json_key(item, "name"), json_object_get(item, member),
                               files[i].path };
        if (item)
            return 0;
    }
    CLEANUP_FREE char *names = names_in(files, count, list);
    return err_set(e, ERR_INVALID, "%s: the %s \"%s\" does not exist: there is %s", files[0].path,
                   member, name, names);
}

static int take_material(const struct entry *entry, const struct material_fields *fields,
                         struct config *c, struct err *e)
{
    struct material *m = &c->materials[fields->kind];
    const char *data = kubeconfig_text_of(entry->body, fields->data);
    const char *file = kubeconfig_text_of(entry->body, fields->file);
    if (data)
        return material_set_base64(m, fields->kind, data, e) < 0 ? err_wrap(e, "%s", fields->data)
                                                                 : 0;
    if (!file)
        return 0;
    CLEANUP_FREE char *path = file_beside(entry->file, file);
    return material_set_file(m, fields->kind, path, e) < 0 ? err_wrap(e, "%s", fields->file) : 0;
}

static int take_cluster(const struct entry *cluster, struct config *c, struct err *e)
{
    const char *server = kubeconfig_text_of(cluster->body, "server");
    const char *proxy = kubeconfig_text_of(cluster->body, "proxy-url");
    const char *name = kubeconfig_text_of(cluster->body, "tls-server-name");
    if (!server)
        return err_set(e, ERR_INVALID, "server is missing");
    if (endpoint_parse(server, &c->server, e) < 0)
        return -1;
    c->compression = !json_bool(cluster->body, "disable-compression", false);
    if (proxy && proxy_take(proxy, "proxy-url", &c->proxy_url, e) < 0)
        return -1;
    if (!c->server.tls)
        return 0;
    c->insecure = json_bool(cluster->body, "insecure-skip-tls-verify", false);
    c->tls_server_name = xstrdup_or_null(name);
    if (take_material(cluster, &ca_fields, c, e) < 0)
        return -1;
    if (c->insecure && c->materials[MATERIAL_CA].bytes)
        return err_set(
            e, ERR_INVALID,
            "both insecure-skip-tls-verify and certificate-authority are set: remove one of them");
    return 0;
}

static int take_token(const struct entry *user, struct config *c, struct err *e)
{
    struct material *m = &c->materials[MATERIAL_TOKEN];
    const char *token = kubeconfig_text_of(user->body, "token");
    const char *file = kubeconfig_text_of(user->body, "tokenFile");
    if (token && material_set(m, MATERIAL_TOKEN, token, strlen(token), e) < 0)
        return -1;
    if (!file)
        return 0;
    CLEANUP_FREE char *path = file_beside(user->file, file);
    if (material_set_file(m, MATERIAL_TOKEN, path, e) < 0 && !token)
        return err_wrap(e, "tokenFile");
    err_clear(e);
    return 0;
}

/* Limit of a CA for plugins: all their data is in one variable, which Linux limits to 128 KiB. */
enum { AUTHORITY_TOLD_MAX = 80 << 10 };

/* A cluster for a plugin, which does not know the kubeconfig's files. The CA is inline, unless
 * it is too long, such as a bundle of all public CAs. New reference. */
static json_t *with_authority(const json_t *cluster, const struct material *authority)
{
    json_t *told = json_copy((json_t *) cluster);
    if (kubeconfig_text_of(cluster, ca_fields.data) || !authority->bytes ||
        authority->len > AUTHORITY_TOLD_MAX)
        return told;
    CLEANUP_FREE char *data = base64_encode(authority->bytes, authority->len);
    json_object_set_new(told, ca_fields.data, json_string(data));
    return told;
}

/* Sends no credentials without encryption. */
static int take_user(const struct entry *user, const struct entry *cluster, struct config *c,
                     struct err *e)
{
    if (!c->server.tls)
        return 0;
    if (take_token(user, c, e) < 0 || take_material(user, &certificate_fields, c, e) < 0 ||
        take_material(user, &key_fields, c, e) < 0)
        return -1;
    bool certificate = c->materials[MATERIAL_CERTIFICATE].bytes;
    bool key = c->materials[MATERIAL_KEY].bytes;
    if (certificate != key)
        return err_set(e, ERR_INVALID, "a %s without a %s: set both",
                       certificate ? "client-certificate" : "client-key",
                       certificate ? "client-key" : "client-certificate");
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (json_object_get(user->body, refusals[i].field))
            return err_set(e, ERR_INVALID, "it %s", refusals[i].advice);
    /* As in kubectl, other credentials take precedence over the plugin. */
    const json_t *exec = json_object_get(user->body, "exec");
    if (!exec || certificate || c->materials[MATERIAL_TOKEN].bytes)
        return 0;
    CLEANUP_JSON json_t *told = with_authority(cluster->body, &c->materials[MATERIAL_CA]);
    c->plugin = plugin_new(exec, told, user->file, e);
    return c->plugin ? 0 : -1;
}

static int take_context(const struct kubeconfig_file *files, size_t count,
                        const struct entry *context, struct config *c, struct err *e)
{
    struct entry cluster, user;
    const char *cluster_name = kubeconfig_text_of(context->body, "cluster");
    const char *user_name = kubeconfig_text_of(context->body, "user");
    const char *namespace = kubeconfig_text_of(context->body, "namespace");
    if (!cluster_name)
        return err_set(e, ERR_INVALID, "%s: the context \"%s\" has no cluster", context->file,
                       context->name);
    if (kubeconfig_find(files, count, "cluster", cluster_name, &cluster, e) < 0)
        return -1;
    if (take_cluster(&cluster, c, e) < 0)
        return err_wrap(e, "%s: cluster \"%s\"", cluster.file, cluster.name);
    if (user_name && kubeconfig_find(files, count, "user", user_name, &user, e) < 0)
        return -1;
    if (user_name && take_user(&user, &cluster, c, e) < 0)
        return err_wrap(e, "%s: user \"%s\"", user.file, user.name);
    c->namespace = xstrdup(namespace ? namespace : "default");
    c->description = xasprintf("the context \"%s\" of %s (%s)", context->name, context->file,
                               c->server.url);
    return 0;
}

int kubeconfig_decode(const struct kubeconfig_file *files, size_t count, const char *context_name,
                      struct config *ret, struct err *e)
{
    const char *current = context_name;
    for (size_t i = 0; i < count && !current; i++)
        current = kubeconfig_text_of(files[i].root, "current-context");
    if (!current)
        return err_set(e, ERR_INVALID,
                       "%s: no current-context: choose one with `kubectl config use-context`",
                       files[0].path);
    struct entry context;
    if (kubeconfig_find(files, count, "context", current, &context, e) < 0)
        return -1;
    struct config c = { 0 };
    if (take_context(files, count, &context, &c, e) < 0) {
        config_clear(&c);
        return -1;
    }
    *ret = c;
    return 0;
}

/* The first document of a file; an empty file is an empty configuration. Sets *ret to NULL if
 * the file does not exist. */
static int kubeconfig_read_file(const char *path, json_t **ret, struct err *e)
{
    struct err problem = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &problem);
    if (documents) {
        json_t *root = json_array_get(documents, 0);
        *ret = root ? json_incref(root) : json_object();
        return 0;
    }
    *ret = NULL;
    int rc = problem.kind == ERR_NOT_FOUND
                 ? 0
                 : err_set(e, problem.kind, "kubeconfig: %s", err_msg(&problem));
    err_clear(&problem);
    return rc;
}

int kubeconfig_load(char *const *paths, size_t count, const char *context, struct config *ret,
                    struct err *e)
{
    struct kubeconfig_file files[LIMIT_KUBECONFIG_FILES];
    json_t *roots[LIMIT_KUBECONFIG_FILES];
    size_t have = 0;
    int rc = 0;
    for (size_t i = 0; i < count && i < LIMIT_KUBECONFIG_FILES && rc == 0; i++) {
        rc = kubeconfig_read_file(paths[i], &roots[have], e);
        if (rc == 0 && roots[have]) {
            files[have] = (struct kubeconfig_file){ .path = paths[i], .root = roots[have] };
            have++;
        }
    }
    if (rc == 0 && have == 0)
        rc = err_set(e, ERR_NOT_FOUND, "kubeconfig %s does not exist", count ? paths[0] : "");
    else if (rc == 0 && kubeconfig_decode(files, have, context, ret, e) < 0)
        rc = err_wrap(e, "kubeconfig");
    if (rc == 0 && ret->plugin && config_run_plugin(ret, e) < 0) {
        config_clear(ret);
        rc = err_wrap(e, "kubeconfig");
    }
    for (size_t i = 0; i < have; i++)
        json_decref(roots[i]);
    return rc;
}
