/* Options → command → exit code. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/yaml.h"
#include "node/agent/agent.h"
#include "node/agent/wait.h"
#include "node/cards/cards.h"
#include "node/look/inventory.h"
#include "node/options.h"
#include "node/show.h"

static void print(const struct inventory *i, enum node_output output)
{
    if (output == NODE_OUTPUT_TEXT) {
        show_inventory(i, stdout);
        return;
    }
    CLEANUP_JSON json_t *json = inventory_json(i);
    CLEANUP_FREE char *text = output == NODE_OUTPUT_JSON ? json_dumps(json, JSON_INDENT(2)) : yaml_dump(json);
    printf(output == NODE_OUTPUT_JSON ? "%s\n" : "%s", text);
}

static int look(const struct node_options *o, const struct root *root, struct err *e)
{
    CLEANUP_INVENTORY struct inventory i = { 0 };
    inventory_look(root, &i);
    print(&i, o->output);
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set(e, ERR_SYSTEM, "what was seen could not be printed");
    return 0;
}

static int run(const struct node_options *o, const struct root *root, struct err *e)
{
    CLEANUP_FREE char *user_agent = xasprintf("ostler-node/%s", ostler_node_version);
    const struct turn_options turn = { .node = o->node, .kubeconfig = o->kubeconfig, .user_agent = user_agent, .root = root };
    log_setup(o->log_level, o->log_json);
    log_info("starting", "version", ostler_node_version, "node", o->node);
    return node_agent_run(&turn, e);
}

static int cards(const struct node_options *o, const struct root *root, struct err *e)
{
    if (!o->to)
        return cards_print(root, e);
    log_setup(o->log_level, o->log_json);
    return cards_keep(root, o->to, e);
}

/* Runs a command that needs the machine. */
static int work(const struct node_options *o, struct err *e)
{
    CLEANUP_ROOT struct root root = { .fd = -1 };
    if (root_open(&root, o->root, e) < 0)
        return -1;
    if (o->command == NODE_COMMAND_RUN)
        return run(o, &root, e);
    if (o->command == NODE_COMMAND_CARDS)
        return cards(o, &root, e);
    return o->command == NODE_COMMAND_WAIT ? wait_for(&root, &o->wish, o->timeout_ms, e) : look(o, &root, e);
}

int main(int argc, char **argv)
{
    mem_hook_jansson();
    struct node_options o;
    CLEANUP_ERR struct err e = { 0 };
    if (node_options_parse(argc, argv, &o, &e) < 0) {
        fprintf(stderr, "ostler-node: %s\n", err_msg(&e));
        return 2;
    }
    if (o.command == NODE_COMMAND_HELP) {
        node_options_help();
        return 0;
    }
    if (o.command == NODE_COMMAND_VERSION) {
        printf("ostler-node %s\n", ostler_node_version);
        return 0;
    }
    if (work(&o, &e) == 0)
        return 0;
    fprintf(stderr, "ostler-node: %s\n", err_msg(&e));
    return 1;
}
