/* The operator without its process: informers, controllers, executor, recorder and lease over a
 * given transport, loop and clock. The program runs one engine over the network, the simulator
 * any number in its own world, with the same code. It has no static state. */
#ifndef OSTLER_CONTROLLER_ENGINE_ENGINE_H
#define OSTLER_CONTROLLER_ENGINE_ENGINE_H

#include "controller/engine/engine_options.h"

struct cluster;
struct engine;

/* Owned by the caller; does nothing before engine_start(). */
struct engine *engine_new(const struct engine_options *o);
/* Starts to list, to watch and to acquire the lease. */
void engine_start(struct engine *en);
/* Starts to stop: waits for writes in flight, releases the lease, then calls
 * finished(exit_code). It takes at most 2 s, except for a completed cleanup, which deletes its
 * leases. */
void engine_stop(struct engine *en, int exit_code);
/* Cancels all requests at once and sends nothing more. */
void engine_free(struct engine *en);

/* Whether the engine makes decisions: it leads and all watches work. */
bool engine_working(const struct engine *en);
/* Whether it holds the lease now. */
bool engine_leads(const struct engine *en);
/* The identity of another Ostler of this installation that leads, as last seen; NULL: none.
 * Borrowed until the next turn. */
const char *engine_leader(const struct engine *en);
/* The engine's view of the cluster, for comparison with the truth. Borrowed. */
const struct cluster *engine_cluster(const struct engine *en);

/* ---- reports about the engine (engine_report.c) */

/* Updates the engine's metrics before a scrape. */
void engine_update_metrics(struct engine *en);
/* Why the engine is not ready: a prerequisite is missing or wrong. As below. */
char *engine_why_prerequisites_fail(void *arg);
/* Why the engine is not ready, as one sentence that the caller frees, or NULL. `arg` is the
 * engine: these are checks of /readyz. */
char *engine_why_watches_fail(void *arg);
/* The same for the lease. */
char *engine_why_lease_fails(void *arg);
/* The same for writes: a permission is missing. */
char *engine_why_writes_fail(void *arg);
/* The same while the engine stops. */
char *engine_why_stopping(void *arg);

#endif
