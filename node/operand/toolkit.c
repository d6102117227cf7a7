#include "node/operand/toolkit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/signals.h"
#include "base/str.h"
#include "node/agent/wait.h"
#include "node/operand/place.h"
#include "node/operand/program.h"
#include "node/operand/runtime.h"
#include "node/operand/runtime_change.h"

/* The CDI specification that NVIDIA's program writes when it runs in a container. */
#define SPECIFICATION "var/run/cdi/management.nvidia.com-gpu.yaml"

/* The configuration of NVIDIA's runtimes, which the program writes beside them. */
#define OWN_CONFIGURATION "toolkit/.config/nvidia-container-runtime/config.toml"

/* Mount of the machine's root in the manifest. */
#define HOST "/host"

/* In the toolkit's directory: the runtime's configuration until its change is validated, and why a
 * change was rolled back. */
#define TOOLKIT_COPIES ".runtime-configuration-before"
#define TOOLKIT_REFUSED ".runtime-configuration-refused"

static void idle(int signals)
{
    struct pollfd told = { .fd = signals, .events = POLLIN };
    while (poll(&told, 1, -1) < 1)
        continue;
}

/* From now on signals do not end this process. Its end would kill NVIDIA's program, and a signal
 * would end that program at once; either leaves a half-installed toolkit or configuration. So the
 * program runs to its own end. False with an error: a signal to stop came before. */
static bool may_begin(const char *name, int64_t seen_ms, struct err *e)
{
    CLEANUP_FD int signals = signals_open(0, e);
    struct pollfd told = { .fd = signals, .events = POLLIN };
    if (signals >= 0 && poll(&told, 1, (int) seen_ms) > 0)
        return err_set(e, ERR_TIMEOUT, "stopped by a signal before %s was started", name) == 0;
    return signals >= 0;
}

int toolkit_install(const struct toolkit *t, struct err *e)
{
    CLEANUP_FREE char *runtime = xasprintf("%s/toolkit/nvidia-container-runtime", t->to);
    CLEANUP_FREE char *copies = xasprintf("%s/" TOOLKIT_COPIES, t->to),
                      *refused = xasprintf("%s/" TOOLKIT_REFUSED, t->to);
    CLEANUP_FREE char *own = xasprintf("%s/" OWN_CONFIGURATION, t->to);
    const char *files[] = { own, NULL, NULL, NULL }, **next = &files[1];
    if (t->files.config) /* the drop-in may be the only file */
        *next++ = t->files.config;
    *next = t->files.drop_in;
    if (!may_begin(t->program[0], t->seen_ms, e) || toolkit_files_keep(&t->files, e) < 0)
        return -1;
    struct runtime_proof proof = { .cri = t->cri,
                                   .handler = t->handler,
                                   .name = str_or_empty(t->pod),
                                   .limit_ms = t->times.works };
    struct runtime_change change = { .program = t->program,
                                     .wrapper = runtime,
                                     .files = files,
                                     .copies = copies,
                                     .refused = refused,
                                     .pod = t->pod,
                                     .socket = t->socket,
                                     .scratch = t->scratch,
                                     .host = HOST,
                                     .times = t->times,
                                     .proof = &proof };
    if (t->socket)
        runtime_dump_find("/proc", runtime_process(t->socket), &change.dump);
    int rc = runtime_change(&change, e);
    if (!t->socket)
        runtime_rest(&t->times);
    runtime_dump_free(&change.dump);
    return rc == 0 ? toolkit_files_made(&t->files, e) : rc;
}

/* Removes notes of a change. A later toolkit must not find them: it would restore an old
 * configuration. */
static int forget_changes(const char *to, struct err *e)
{
    static const char *const notes[] = { TOOLKIT_COPIES, TOOLKIT_REFUSED };
    for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
        CLEANUP_FREE char *path = xasprintf("%s/%s", to, notes[i]);
        if (unlink(path) < 0 && errno != ENOENT)
            return err_set(e, ERR_SYSTEM, "cannot remove %s: %s", path, strerror(errno));
    }
    return 0;
}

int toolkit_remove(const struct root *root, const struct toolkit *t, struct err *e)
{
    if (!may_begin(t->program[0], t->seen_ms, e) || toolkit_files_restore(&t->files, e) < 0)
        return -1;
    int rc = t->socket ? runtime_restart(t->socket, &t->times, e)
                       : runtime_restart_by(t->program, t->scratch, e);
    if (!t->socket)
        runtime_rest(&t->times);
    return rc == 0 && forget_changes(t->to, e) == 0 ? place_remove(root, SPECIFICATION, e) : -1;
}

int toolkit_idle(struct err *e)
{
    CLEANUP_FD int signals = signals_open(0, e);
    if (signals < 0)
        return -1;
    idle(signals);
    return 0;
}

/* Builds the ready file's words once the driver is ready. ERR_TIMEOUT: a signal to stop. */
static int make_sign(const struct root *root, enum ready_source source, const char *revision,
                     struct ready_words *ret, struct err *e)
{
    const struct ready_target wish = { .sign = READY_DRIVER, .source = source };
    struct ready_words driver = { .items = { "", "host" } };
    do {
        if (wait_for(root, &wish, 0, e) < 0)
            return -1;
    } while (source == READY_OF_CONTAINER && !ready_file_read(root, READY_FILE_OF_DRIVER, &driver));
    if (!boot_id_read(root, ret))
        return err_set(e, ERR_SYSTEM, "cannot read the boot ID of the machine");
    memcpy(ret->items[1], driver.items[1], READY_WORD_MAX);
    snprintf(ret->items[2], READY_WORD_MAX, "%s", revision);
    return 0;
}

/* Removes the ready file unless another pod has replaced it. */
static int take_back(const struct root *root, const struct ready_words *sign, struct err *e)
{
    struct ready_words there;
    return ready_file_read(root, READY_FILE_OF_TOOLKIT, &there) &&
                   memcmp(&there, sign, sizeof there) == 0
               ? place_remove(root, READY_FILE_OF_TOOLKIT, e)
               : 0;
}

/* Keeps the ready file until a signal to stop. */
static int keep(const struct root *root, int signals, const struct ready_words *sign, struct err *e)
{
    CLEANUP_FREE char *text = xasprintf("%s %s %s\n", sign->items[0], sign->items[1],
                                        sign->items[2]);
    if (place_put(root, READY_FILE_OF_TOOLKIT, text, e) < 0)
        return -1;
    idle(signals);
    return take_back(root, sign, e);
}

int toolkit_sign(const struct root *root, enum ready_source source, const char *revision,
                 struct err *e)
{
    CLEANUP_ERR struct err why = { 0 };
    struct ready_words sign = { 0 };
    CLEANUP_FD int signals = signals_open(0, e);
    if (signals < 0)
        return -1;
    if (make_sign(root, source, revision, &sign, &why) == 0)
        return keep(root, signals, &sign, e);
    return why.kind == ERR_TIMEOUT ? 0 : err_set(e, why.kind, "%s", err_msg(&why));
}
