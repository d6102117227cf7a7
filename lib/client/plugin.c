#include "client/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "client/limits.h"

extern char **environ;

struct plugin {
    char *api_version;
    char *install_hint; /* "" if there is none */
    char **argv;        /* NULL-terminated, as is envp */
    char **envp;
    pid_t pid; /* 0: not running */
    int fd;    /* its stdout, -1 after the end */
    struct buf output;
    int64_t started_at;
};

/* ---- from the kubeconfig */

static void strings_free(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

/* A command with a slash is a path relative to the kubeconfig's directory; otherwise it is
 * looked up in PATH. */
static char *command_path(const char *command, const char *file)
{
    return strchr(command, '/') ? file_beside(file, command) : xstrdup(command);
}

static char **make_argv(const json_t *exec, const char *file)
{
    const json_t *args = json_object_get(exec, "args");
    char **argv = xcalloc(json_array_size(args) + 2, sizeof *argv);
    size_t n = 0;
    argv[n++] = command_path(json_key(exec, "command"), file);
    JSON_EACH (arg, args)
        argv[n++] = xstrdup(str_or_empty(json_string_value(arg)));
    return argv;
}

/* The value of KUBERNETES_EXEC_INFO. */
static char *make_info(const json_t *exec, const json_t *cluster)
{
    static const char *const fields[] = {
        "server",    "tls-server-name",    "insecure-skip-tls-verify", "certificate-authority-data",
        "proxy-url", "disable-compression"
    };
    CLEANUP_JSON json_t *info = json_pack("{s:s, s:s, s:{s:b}}", "apiVersion",
                                          json_key(exec, "apiVersion"), "kind", "ExecCredential",
                                          "spec", "interactive", 0);
    if (json_bool(exec, "provideClusterInfo", false)) {
        json_t *told = json_object();
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
            if (json_object_get(cluster, fields[i]))
                json_object_set(told, fields[i], json_object_get(cluster, fields[i]));
        /* A cluster's extension for such programs. */
        const json_t *own = json_find(json_object_get(cluster, "extensions"), "name",
                                      "client.authentication.k8s.io/exec");
        if (json_object_get(own, "extension"))
            json_object_set(told, "config", json_object_get(own, "extension"));
        json_object_set_new(json_object_get(info, "spec"), "cluster", told);
    }
    CLEANUP_FREE char *text = json_compact(info);
    return xasprintf("KUBERNETES_EXEC_INFO=%s", text);
}

static bool has_name(char *const *envp, const char *entry)
{
    size_t n = strcspn(entry, "=") + 1;
    for (size_t i = 0; envp[i]; i++)
        if (strncmp(envp[i], entry, n) == 0)
            return true;
    return false;
}

/* KUBERNETES_EXEC_INFO and the kubeconfig's variables, then our environment without those names. */
static char **make_envp(const json_t *exec, const json_t *cluster)
{
    const json_t *env = json_object_get(exec, "env");
    size_t ours = 0, n = 0;
    while (environ[ours])
        ours++;
    char **envp = xcalloc(json_array_size(env) + ours + 2, sizeof *envp);
    envp[n++] = make_info(exec, cluster);
    JSON_EACH (item, env) {
        const char *name = json_key(item, "name");
        if (name && *name && !strchr(name, '='))
            envp[n++] = xasprintf("%s=%s", name, str_or_empty(json_key(item, "value")));
    }
    for (size_t i = 0; i < ours; i++)
        if (!has_name(envp, environ[i]))
            envp[n++] = xstrdup(environ[i]);
    return envp;
}

struct plugin *plugin_new(const json_t *exec, const json_t *cluster, const char *file,
                          struct err *e)
{
    const char *version = json_key(exec, "apiVersion");
    const char *command = json_key(exec, "command");
    if (!command || !*command) {
        err_set(e, ERR_INVALID, "exec: command is missing");
        return NULL;
    }
    if (!str_eq(version, "client.authentication.k8s.io/v1") &&
        !str_eq(version, "client.authentication.k8s.io/v1beta1")) {
        err_set(e, ERR_INVALID,
                "exec: apiVersion is neither client.authentication.k8s.io/v1 nor v1beta1: renew "
                "the kubeconfig "
                "with the tool that wrote it");
        return NULL;
    }
    if (str_eq(json_key(exec, "interactiveMode"), "Always")) {
        err_set(
            e, ERR_INVALID,
            "exec: %s needs a terminal, which Ostler does not have: give a kubeconfig with a token",
            command);
        return NULL;
    }
    struct plugin *p = xcalloc(1, sizeof *p);
    p->api_version = xstrdup(version);
    p->install_hint = xstrdup(str_or_empty(json_key(exec, "installHint")));
    p->argv = make_argv(exec, file);
    p->envp = make_envp(exec, cluster);
    p->fd = -1;
    p->output = (struct buf) BUF_INIT(LIMIT_CREDENTIAL_BYTES);
    return p;
}

/* ---- running it */

/* Resets the signal mask: the loop blocks signals to read them from a descriptor. */
static int spawn(struct plugin *p, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(&p->pid, p->argv[0], &actions, &attributes, p->argv, p->envp);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        p->pid = 0;
    return rc;
}

int plugin_start(struct plugin *p, int64_t now_ms, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(e, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    fcntl(ends[1], F_SETFL, 0); /* the program's end stays blocking */
    int rc = spawn(p, ends[1]);
    close(ends[1]);
    if (rc != 0) {
        close(ends[0]);
        return err_set(e, ERR_SYSTEM, "the credential program %s cannot be run: %s%s%s", p->argv[0],
                       strerror(rc), *p->install_hint ? ": " : "", p->install_hint);
    }
    p->fd = ends[0];
    p->started_at = now_ms;
    buf_reset(&p->output);
    return 0;
}

bool plugin_is_running(const struct plugin *p)
{
    return p->pid != 0;
}

static void close_output(struct plugin *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

static int stop(struct plugin *p)
{
    int status = 0;
    kill(p->pid, SIGKILL);
    waitpid(p->pid, &status, 0);
    p->pid = 0;
    close_output(p);
    return -1;
}

/* False if it prints more than the limit. */
static bool read_output(struct plugin *p)
{
    char chunk[4096];
    ssize_t n = 0;
    while (p->fd >= 0 && (n = read(p->fd, chunk, sizeof chunk)) > 0)
        if (!buf_add(&p->output, chunk, (size_t) n))
            return false;
    if (n == 0 || errno != EAGAIN)
        close_output(p);
    return true;
}

static int parse_output(const struct plugin *p, json_t **ret_status, struct err *e)
{
    CLEANUP_ERR struct err problem = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse(buf_text(&p->output), p->output.len, NULL,
                                                &problem);
    const json_t *credential = json_array_get(documents, 0);
    json_t *status = json_object_get(credential, "status");
    if (!str_eq(json_key(credential, "kind"), "ExecCredential") || !json_is_object(status))
        return err_set(e, ERR_INVALID,
                       "the credential program %s printed no ExecCredential with a status",
                       p->argv[0]);
    if (!str_eq(json_key(credential, "apiVersion"), p->api_version))
        return err_set(e, ERR_INVALID,
                       "the credential program %s answered in a version other than %s", p->argv[0],
                       p->api_version);
    *ret_status = json_incref(status);
    return 0;
}

int plugin_poll(struct plugin *p, int64_t now_ms, json_t **ret_status, struct err *e)
{
    if (!read_output(p)) {
        stop(p);
        return err_set(e, ERR_TOO_LARGE, "the output of the credential program %s is too long",
                       p->argv[0]);
    }
    int status = 0;
    if (p->fd < 0 && waitpid(p->pid, &status, WNOHANG) == p->pid) {
        p->pid = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return parse_output(p, ret_status, e) < 0 ? -1 : 1;
        return err_set(e, ERR_INVALID,
                       "the credential program %s failed with %s %d: run it by hand to see why",
                       p->argv[0], WIFEXITED(status) ? "exit code" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    if (now_ms - p->started_at < PLUGIN_TIMEOUT_MS)
        return 0;
    stop(p);
    return err_set(e, ERR_TIMEOUT, "the credential program %s took longer than %d s", p->argv[0],
                   PLUGIN_TIMEOUT_MS / 1000);
}

int plugin_run(struct plugin *p, json_t **ret_status, struct err *e)
{
    enum { STEP_MS = 20 };
    const struct clock clock = clock_system();
    if (plugin_start(p, clock_mono_ms(&clock), e) < 0)
        return -1;
    int rc;
    while ((rc = plugin_poll(p, clock_mono_ms(&clock), ret_status, e)) == 0) {
        struct pollfd wait = { .fd = p->fd, .events = POLLIN };
        poll(&wait, 1, STEP_MS);
    }
    return rc < 0 ? -1 : 0;
}

void plugin_free(struct plugin *p)
{
    if (!p)
        return;
    if (p->pid)
        stop(p);
    close_output(p);
    buf_clear(&p->output);
    strings_free(p->argv);
    strings_free(p->envp);
    free(p->api_version);
    free(p->install_hint);
    free(p);
}
