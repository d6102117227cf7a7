#include "node/operand/runtime_change.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "node/operand/config_loss.h"
#include "node/operand/kept.h"
#include "node/operand/program.h"

enum { DUMP_MS = 20 * 1000, LOST_MAX = 4096, ARGUMENTS_MAX = 4096, DUMP_ARGC = 6 };

#define SOURCE "RUNTIME_CONFIG_SOURCE"
#define SOURCES "RUNTIME_CONFIG_SOURCES"
/* The path that the manifest sets for the source "file" (toolkit/parts/containerd.yaml). */
#define STOCK_CONFIG "/etc/containerd/config.toml"
/* The handler's name in a dump. */
#define HANDLER ".runtimes.nvidia"

/* ---- the dump */

/* FILE in `-c FILE`, `--config FILE` or `--config=FILE` of a command line in the kernel's form;
 * NULL: not given. */
static const char *config_argument(const char *line, size_t len)
{
    for (const char *at = line, *end = line + len; at < end; at += strlen(at) + 1) {
        const char *next = at + strlen(at) + 1;
        if (str_has_prefix(at, "--config="))
            return at + strlen("--config=");
        if ((str_eq(at, "--config") || str_eq(at, "-c")) && next < end)
            return next;
    }
    return NULL;
}

static size_t read_line(const char *path, char *into, size_t size)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, into, size - 1) : 0;
    into[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t) n : 0;
}

void runtime_dump_find(const char *proc, pid_t pid, struct runtime_dump *ret)
{
    *ret = (struct runtime_dump){ 0 };
    struct arena *a = &ret->arena;
    char program[PATH_MAX], arguments[ARGUMENTS_MAX];
    ssize_t len = pid > 0 ? readlink(arena_printf(a, "%s/%d/exe", proc, (int) pid), program,
                                     sizeof program - 1)
                          : -1;
    if (len <= 0)
        return;
    program[len] = '\0';
    const char *name = strrchr(program, '/'),
               *line = arena_printf(a, "%s/%d/cmdline", proc, (int) pid);
    if (!name || !str_eq(name, "/containerd"))
        return;
    const char *config = config_argument(arguments, read_line(line, arguments, sizeof arguments));
    char **argv = arena_alloc(a, DUMP_ARGC * sizeof *argv), **to = argv;
    *to++ = arena_strdup(a, program);
    if (config) {
        *to++ = arena_strdup(a, "--config");
        ret->config = *to++ = arena_strdup(a, config);
    }
    *to++ = arena_strdup(a, "config");
    *to++ = arena_strdup(a, "dump");
    ret->argv = argv;
    ret->root = arena_printf(a, "%s/%d/root", proc, (int) pid);
}

void runtime_dump_free(struct runtime_dump *dump)
{
    arena_free(&dump->arena);
    *dump = (struct runtime_dump){ 0 };
}

/* ---- before the change */

static int ask_dump(const struct runtime_dump *dump, struct buf *said, struct err *e)
{
    return program_run_in(dump->root, dump->argv, DUMP_MS, false, said, e);
}

/* The file that the runtime was started with, if it is not the packages' and no admin has set the
 * toolkit's source; else NULL. */
static const char *file_to_follow(const struct runtime_change *c)
{
    const char *source = getenv(SOURCE), *file = c->dump.config;
    bool is_free = !getenv(SOURCES) && source && str_eq(source, "file") && c->host;
    return is_free && file && *file == '/' && !str_eq(file, STOCK_CONFIG) ? file : NULL;
}

/* The handler copies settings from the file that the runtime reads, such as whether systemd manages
 * control groups. */
static void follow(const struct runtime_change *c, const char *file)
{
    CLEANUP_FREE char *source = xasprintf("file=%s%s", c->host, file);
    fprintf(
        stderr,
        "ostler-node: containerd was started with %s: the toolkit takes its settings from there\n",
        file);
    setenv(SOURCE, source, 1);
}

/* Whether the runtime imports the drop-in; that depends on the file that it reads. */
static bool has_drop_in(const char *file, const char *after, struct err *e)
{
    bool has = !file || strstr(after, HANDLER);
    if (!has)
        err_set(e, ERR_INVALID,
                "%s: containerd was started with %s, which does not import the toolkit's drop-in. "
                "The runtime was not restarted. Have that file import "
                "/etc/containerd/conf.d/*.toml, or have the machine bring its own toolkit",
                RUNTIME_CONFIG_FAILED, file);
    return has;
}

/* Writes the configuration and checks it. `file`: the one that the runtime was started with; NULL:
 * the packages'. 0: nothing is lost, or that is not known. 1: it would lose the settings in `lost`.
 * -1: NVIDIA's program failed, or the runtime would not read its output. */
static int try_change(const struct runtime_change *c, const char *file, const char *before,
                      struct buf *lost, struct err *e)
{
    CLEANUP_ERR struct err why = { 0 };
    CLEANUP_BUF struct buf after = BUF_INIT(CONFIG_DUMP_MAX);
    buf_reset(lost);
    if (program_run(c->program, 0, NULL, e) < 0)
        return -1;
    if (ask_dump(&c->dump, &after, &why) < 0) {
        buf_printf(lost, "everything: containerd cannot read it, %.512s", err_msg(&why));
        return 1;
    }
    if (!has_drop_in(file, buf_text(&after), e))
        return -1;
    return config_loss(before, buf_text(&after), lost) == CONFIG_LOST;
}

/* Tries the sources for NVIDIA's program in turn until one loses nothing. */
static int try_sources(const struct runtime_change *c, const struct kept *kept, const char *before,
                       struct err *e)
{
    CLEANUP_BUF struct buf lost = BUF_INIT(LOST_MAX);
    bool has_other = !getenv(SOURCES) && getenv(SOURCE) && str_eq(getenv(SOURCE), "file");
    const char *file = file_to_follow(c);
    if (file)
        follow(c, file);
    int rc = try_change(c, file, before, &lost, e);
    if (rc == 1 && has_other) {
        fprintf(stderr,
                "ostler-node: with the source %s containerd's configuration would lose %s: trying "
                "the source command\n",
                getenv(SOURCE), buf_text(&lost));
        if (kept_put_back(kept, e) < 0)
            return -1;
        setenv(SOURCE, "command,file", 1);
        rc = try_change(c, file, before, &lost, e);
    }
    if (rc == 1)
        err_set(e, ERR_INVALID,
                "%s: with the toolkit's drop-in containerd's configuration would lose %s. The "
                "runtime was not restarted. Compare "
                "'containerd config dump' with config.toml on this node, or set %s for the toolkit",
                RUNTIME_CONFIG_FAILED, buf_text(&lost), SOURCES);
    return rc ? -1 : 0;
}

/* 1: the configuration is written and loses nothing. 0: there is no dump; nothing is checked or
 * written. */
static int runtime_change_judge(const struct runtime_change *c, const struct kept *kept,
                                struct err *e)
{
    CLEANUP_ERR struct err why = { 0 };
    CLEANUP_BUF struct buf before = BUF_INIT(CONFIG_DUMP_MAX);
    if (!c->dump.argv)
        return 0;
    if (ask_dump(&c->dump, &before, &why) < 0) {
        fprintf(stderr, "ostler-node: the configuration is used without a check: %s\n",
                err_msg(&why));
        return 0;
    }
    return try_sources(c, kept, buf_text(&before), e) < 0 ? -1 : 1;
}

/* ---- after the change */

int runtime_restart_by(char *const program[], const char *scratch, struct err *e)
{
    static const char *const variables[] = { "RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG" };
    CLEANUP_FREE char *folder = xasprintf("%s/ostler-XXXXXX", scratch);
    if (!mkdtemp(folder))
        return err_set(e, ERR_SYSTEM, "cannot create the directory %s: %s", folder,
                       strerror(errno));
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        CLEANUP_FREE char *path = xasprintf("%s/%zu", folder, i);
        if (getenv(variables[i]))
            setenv(variables[i], path, 1);
    }
    return program_run(program, 0, NULL, e);
}

/* Makes the runtime read the old configuration. If it does not answer, its service manager restarts
 * it. */
static int restart(const struct runtime_change *c, struct err *e)
{
    if (!c->socket)
        return runtime_restart_by(c->program, c->scratch, e);
    return runtime_process(c->socket) ? runtime_restart(c->socket, &c->times, e)
                                      : runtime_await(c->socket, 0, &c->times, e);
}

/* Writes the pod's name, then on further lines why its change was rolled back. */
static void runtime_change_remember(const struct runtime_change *c, const char *message)
{
    CLEANUP_FREE char *text = xasprintf("%s\n%s", c->pod, message);
    CLEANUP_ERR struct err why = { 0 };
    if (file_write(c->refused, 0600, text, strlen(text), &why) < 0)
        fprintf(stderr, "ostler-node: %s\n", err_msg(&why));
}

/* Whether the same pod has already tried and restarted the runtime twice; the error then says the
 * result. */
static bool was_refused(const struct runtime_change *c, struct err *e)
{
    char text[LOST_MAX];
    size_t len = c->pod ? read_line(c->refused, text, sizeof text) : 0,
           name = c->pod ? strlen(c->pod) : 0;
    if (len <= name || !str_has_prefix(text, c->pod) || text[name] != '\n')
        return false;
    err_set(e, ERR_INVALID, "%s", text + name + 1);
    return true;
}

/* Rolls the change back because of `why`, which is freed; `e` receives the full message.
 * `has_read`: the runtime may have read the new configuration. If NVIDIA's program restarts the
 * runtime, it writes its runtimes' configuration again. */
static int take_back(const struct runtime_change *c, const struct kept *kept, bool has_read,
                     struct err *why, struct err *e)
{
    CLEANUP_ERR struct err trouble = { 0 };
    bool counts = kept_differs(kept) && has_read, back = kept_put_back(kept, &trouble) == 0;
    if (!back)
        err_set(e, why->kind,
                "%s: %s; the old configuration could not be restored: %s. Repair the runtime on "
                "this node by hand: the old files are in %s",
                RUNTIME_CONFIG_FAILED, err_msg(why), err_msg(&trouble), c->copies);
    else if (counts && (restart(c, &trouble) < 0 || kept_put_back(kept, &trouble) < 0))
        err_set(e, why->kind,
                "%s: %s; the old configuration was restored, and still %s. Repair the runtime on "
                "this node by hand, then delete this pod",
                RUNTIME_CONFIG_FAILED, err_msg(why), err_msg(&trouble));
    else if (counts)
        err_set(
            e, why->kind,
            "%s: %s; the old configuration was restored. See the runtime's own log on this node "
            "for why it did not take the toolkit's drop-in, and delete this pod to try again",
            RUNTIME_CONFIG_FAILED, err_msg(why));
    else
        err_set(e, why->kind, "%s", err_msg(why));
    err_clear(why);
    if (c->pod && counts)
        runtime_change_remember(c, err_msg(e));
    if (back)
        unlink(c->copies);
    return -1;
}

/* Restores what an earlier process left unvalidated. 1: files differed, and the runtime may have
 * read them. */
static int settle_earlier(const struct runtime_change *c, struct err *e)
{
    CLEANUP_KEPT struct kept left = { 0 };
    CLEANUP_ERR struct err why = { 0 };
    int rc = kept_load(&left, c->copies, &why);
    if (rc < 0)
        fprintf(stderr, "ostler-node: %s\n", err_msg(&why));
    bool differs = rc == 1 && kept_differs(&left);
    if (rc == 1 && kept_put_back(&left, e) < 0)
        return -1;
    return differs;
}

/* Does not let the same pod retry. If its change was rolled back only now, the runtime restarts
 * with the old configuration. */
static int refuse_again(const struct runtime_change *c, bool is_back)
{
    CLEANUP_ERR struct err why = { 0 };
    if (is_back && restart(c, &why) < 0)
        fprintf(stderr, "ostler-node: the old configuration is restored, but %s\n", err_msg(&why));
    if (is_back)
        unlink(c->copies);
    return -1;
}

/* Without the configured program, no container would start. */
static bool has_wrapper(const struct runtime_change *c, struct err *e)
{
    bool is_there = !c->wrapper || access(c->wrapper, X_OK) == 0;
    if (!is_there)
        err_set(e, ERR_NOT_FOUND, "%s did not create %s", c->program[0], c->wrapper);
    return is_there;
}

int runtime_change(const struct runtime_change *c, struct err *e)
{
    CLEANUP_KEPT struct kept kept = { 0 };
    struct err why = { 0 };
    int is_back = settle_earlier(c, e);
    if (is_back < 0)
        return -1;
    if (was_refused(c, e))
        return refuse_again(c, is_back);
    for (const char *const *file = c->files; *file; file++)
        if (kept_add(&kept, *file, e) < 0)
            return -1;
    if (kept_save(&kept, c->copies, e) < 0)
        return -1;
    runtime_proof_begin(c->proof);
    int written = runtime_change_judge(c, &kept, &why);
    if (written < 0 || (!written && program_run(c->program, 0, NULL, &why) < 0))
        return take_back(c, &kept, !c->socket && !written, &why, e);
    if (!has_wrapper(c, &why))
        return take_back(c, &kept, !c->socket, &why, e);
    if (c->socket && runtime_restart(c->socket, &c->times, &why) < 0)
        return take_back(c, &kept, true, &why, e);
    if (runtime_proof_end(c->proof, &why) < 0)
        return take_back(c, &kept, true, &why, e);
    unlink(c->copies);
    unlink(c->refused);
    return 0;
}
