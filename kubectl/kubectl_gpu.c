#include "kubectl/kubectl_gpu.h"

#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "base/terminal.h"
#include "commands/plan_command.h"
#include "controller/options.h"
#include "kubectl/bundle.h"
#include "kubectl/change.h"
#include "kubectl/completion.h"
#include "kubectl/options.h"
#include "kubectl/page.h"
#include "kubectl/show.h"
#include "reconcilers/view/term.h"

/* A command that uses a cluster; returns 0, or -1 with an error. */
typedef int command_fn(struct ask *a, const struct gpu_options *o, struct err *e);
static command_fn *const online[GPU_COMMAND_COUNT] = {
    [GPU_STATUS] = show_run,    [GPU_NODES] = show_run,    [GPU_EXPLAIN] = show_run,
    [GPU_EVENTS] = show_run,    [GPU_PAUSE] = change_run,  [GPU_RESUME] = change_run,
    [GPU_APPROVE] = change_run, [GPU_HOLD] = change_run,   [GPU_RELEASE] = change_run,
    [GPU_REPAIR] = change_run,  [GPU_IGNORE] = change_run, [GPU_BUNDLE] = bundle_write,
    [GPU_PAGE] = page_show,
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

/* `kubectl gpu plan`: `ostler plan`, with the plugin's options. */
static int plan_show(const struct gpu_options *o)
{
    static const enum output outputs[] = { [SHOW_TEXT] = OUTPUT_TEXT,
                                           [SHOW_WIDE] = OUTPUT_TEXT,
                                           [SHOW_JSON] = OUTPUT_JSON,
                                           [SHOW_YAML] = OUTPUT_YAML };
    /* Starts with the defaults of `ostler plan`. */
    char *words[] = { (char *) "ostler", (char *) "plan", NULL };
    struct options plan;
    CLEANUP_ERR struct err e = { 0 };
    if (options_parse(2, words, &plan, &e) < 0)
        return GPU_USAGE;
    plan.called = "kubectl gpu";
    plan.kubeconfig = o->kubeconfig;
    plan.context = o->context;
    plan.operand_namespace = o->operand_namespace;
    plan.request_timeout_ms = o->request_timeout_ms;
    plan.limits.images = o->image_prefixes ? o->image_prefixes : plan.limits.images;
    plan.limits.settings = o->settings ? o->settings : plan.limits.settings;
    plan.limits.control_plane = o->control_plane;
    plan.limits.repairs = o->repairs;
    plan.limits.install_dirs = o->install_dirs ? o->install_dirs : plan.limits.install_dirs;
    plan.file = o->file;
    plan.simulate = o->simulate;
    plan.output = outputs[o->output];
    return plan_command(&plan);
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
        gpu_options_help(stdout, o.explained);
        return GPU_DONE;
    case GPU_VERSION:
        printf("kubectl-gpu %s\n", ostler_version);
        return GPU_DONE;
    case GPU_COMPLETION:
        return completion_print(o.names[0]);
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
        fprintf(stderr, "kubectl gpu: cannot write all output to standard output\n");
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
