/* Credential plugins: the program in a kubeconfig's `exec` that prints a token or a client
 * certificate. It runs without a shell and without a terminal. The loop never waits for it: it
 * checks for output when it checks credentials. */
#ifndef OSTLER_CLIENT_PLUGIN_H
#define OSTLER_CLIENT_PLUGIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct plugin;

/* From a user's `exec`. Relative paths start at `file`, the kubeconfig. `cluster` belongs to the
 * context, with its CA as data, for programs that ask for it. Does not run the program yet. */
struct plugin *plugin_new(const json_t *exec, const json_t *cluster, const char *file,
                          struct err *e);
/* Stops the program if it runs. */
void plugin_free(struct plugin *p);
/* Whether the program was started and has not ended yet. */
bool plugin_is_running(const struct plugin *p);
/* Starts the program. */
int plugin_start(struct plugin *p, int64_t now_ms, struct err *e);
/* Checks for the end: 0 not yet, 1 done, -1 failed. After 1, *ret_status is the `status` of the
 * ExecCredential, owned by the caller. It cleans up an ended or overdue program. */
int plugin_poll(struct plugin *p, int64_t now_ms, json_t **ret_status, struct err *e);
/* Runs the program to its end, for use before the loop exists. */
int plugin_run(struct plugin *p, json_t **ret_status, struct err *e);

#endif
