/* Parses options and runs the command; returns its exit code. */
#include "commands/ostler.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "commands/demo.h"
#include "commands/install_crds.h"
#include "commands/offline.h"
#include "controller/operator.h"
#include "controller/options.h"
#include "commands/plan_command.h"

int ostler_main(int argc, char **argv)
{
    mem_hook_jansson();
    struct options o;
    CLEANUP_ERR struct err e = { 0 };
    if (argc < 2 && !getenv("KUBERNETES_SERVICE_HOST")) {
        /* outside a pod, a user tries the program; inside, it is the operator */
        options_help(stderr);
        return 2;
    }
    if (argc > 1 && str_eq(argv[1], "demo"))
        return demo_main(argc - 1, argv + 1);
    if (options_parse(argc, argv, &o, &e) < 0) {
        fprintf(stderr, "ostler: %s\n", err_msg(&e));
        return 2;
    }
    log_setup(o.log_level, o.log_json);
    switch (o.command) {
    case COMMAND_HELP:
        options_help(stdout);
        return 0;
    case COMMAND_VERSION:
        printf("ostler %s\n", ostler_version);
        return 0;
    case COMMAND_DEMO:
        return 2; /* not reached: it has options of its own */
    case COMMAND_RENDER:
        return offline_render(&o);
    case COMMAND_VALIDATE:
        return offline_validate(&o);
    case COMMAND_PLAN:
        return plan_command(&o);
    case COMMAND_INSTALL_CRDS:
        return install_crds(&o);
    case COMMAND_RUN:
    case COMMAND_CLEANUP:
        return operator_run(&o);
    }
    return 2;
}
