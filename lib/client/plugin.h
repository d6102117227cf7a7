/* Credential plugins: the program that a kubeconfig's `exec` names prints a token or a client certificate. It is run without a
 * shell and without a terminal, and never waited for once the loop runs: its output is looked at when credentials are. */
#ifndef OSTLER_CLIENT_PLUGIN_H
#define OSTLER_CLIENT_PLUGIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct plugin;

/* From the `exec` of a user; `file` is the kubeconfig, where relative paths begin; `cluster` is that of the context, for programs
 * that want to know it, with its authority as data. Nothing is run yet. */
struct plugin *plugin_new(const json_t *exec, const json_t *cluster, const char *file, struct err *e);
/* Ends the program when it runs. */
void plugin_free(struct plugin *p);
/* Whether the program was started and has not ended yet. */
bool plugin_is_running(const struct plugin *p);
/* Starts the program. */
int plugin_start(struct plugin *p, int64_t now_ms, struct err *e);
/* Looks whether it is done: 0 not yet; 1 then *ret_status is the `status` of its ExecCredential, owned by the caller; -1 it
 * failed (an ended or overdue program is cleaned up). */
int plugin_poll(struct plugin *p, int64_t now_ms, json_t **ret_status, struct err *e);
/* Runs it to its end: for the first time, before there is a loop. */
int plugin_run(struct plugin *p, json_t **ret_status, struct err *e);

#endif
