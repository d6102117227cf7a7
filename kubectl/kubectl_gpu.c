#include "kubectl/kubectl_gpu.h"

#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "base/terminal.h"
#include "controller/options.h"
#include "kubectl/bundle.h"
#include "kubectl/change.h"
#include "kubectl/completion.h"
#include "kubectl/options.h"
#include "kubectl/plan.h"
#include "kubectl/show.h"
#include "kubectl/view/term.h"

/* A command that uses a cluster; returns 0, or -1 with an error. */
typedef int command_fn(struct ask *a, const struct gpu_options *o, struct err *e);
static command_fn *const online[GPU_COMMAND_COUNT] = {
    [GPU_STATUS] = show_status,     [GPU_NODES] = show_nodes,   [GPU_EXPLAIN] = show_explain,
    [GPU_EVENTS] = show_events,     [GPU_PAUSE] = change_pause, [GPU_RESUME] = change_resume,
    [GPU_APPROVE] = change_approve, [GPU_HOLD] = change_hold,   [GPU_RELEASE] = change_release,
    [GPU_BUNDLE] = bundle_write,
};

static int complain(const struct err *e)
{
    CLEANUP_FREE char *clean = terminal_clean(err_msg(e));
    if (e->kind != ERR_NONE) /* otherwise it was already reported */
        fprintf(stderr, "kubectl gpu: %s\n", clean);
    return GPU_NOT_DONE;
}

static int run_online(const struct gpu_options *o)
{
    CLEANUP_ERR struct err e = { 0 };
    struct ask *a = ask_open(o, &e);
    int rc = a ? online[o->command](a, o, &e) : -1;
    ask_free(a);
    return rc < 0 ? complain(&e) : GPU_DONE;
}

static int kubectl_gpu_run(int argc, char **argv)
{
    struct gpu_options o;
    CLEANUP_ERR struct err e = { 0 };
    if (gpu_options_parse(argc, argv, &o, &e) < 0) {
        complain(&e);
        return GPU_USAGE;
    }
    switch ((int) o.command) {
    case GPU_HELP:
        gpu_options_help();
        return GPU_DONE;
    case GPU_VERSION:
        printf("kubectl-gpu %s\n", ostler_version);
        return GPU_DONE;
    case GPU_COMPLETION:
        return completion_script(o.names[0]);
    case GPU_COMPLETE:
        return completion_words(o.names, o.name_count);
    case GPU_PLAN:
        return plan_show(&o);
    default:
        return run_online(&o);
    }
}

/* Fails on incomplete output: its reader would take it for complete. */
static int kubectl_gpu_finish(int code)
{
    bool whole = fflush(stdout) == 0 && !ferror(stdout);
    if (!whole)
        fprintf(stderr, "kubectl gpu: not all of it could be written to standard output\n");
    return whole || code != GPU_DONE ? code : GPU_NOT_DONE;
}

int kubectl_gpu_main(int argc, char **argv)
{
    mem_hook_jansson();
    log_setup(LOG_SILENT, false);
    return kubectl_gpu_finish(kubectl_gpu_run(argc, argv));
}

int kubectl_complete_gpu_main(int argc, char **argv)
{
    mem_hook_jansson();
    log_setup(LOG_SILENT, false);
    return kubectl_gpu_finish(completion_words(argv + 1, (size_t) (argc > 0 ? argc - 1 : 0)));
}
