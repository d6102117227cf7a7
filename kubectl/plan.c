#include "kubectl/plan.h"

#include "controller/options.h"
#include "commands/plan_command.h"

int plan_show(const struct gpu_options *o)
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
        return 2;
    plan.called = "kubectl gpu";
    plan.kubeconfig = o->kubeconfig;
    plan.context = o->context;
    plan.operand_namespace = o->operand_namespace;
    plan.request_timeout_ms = o->request_timeout_ms;
    plan.limits.images = o->image_prefixes ? o->image_prefixes : plan.limits.images;
    plan.limits.settings = o->settings ? o->settings : plan.limits.settings;
    plan.limits.control_plane = o->control_plane;
    plan.limits.install_dirs = o->install_dirs ? o->install_dirs : plan.limits.install_dirs;
    plan.file = o->file;
    plan.simulate = o->simulate;
    plan.output = outputs[o->output];
    return plan_command(&plan);
}
