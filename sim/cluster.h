/* A simulated cluster behind a network address: virtual time coupled to real time, the API server,
 * the actors, and the clients' credentials. */
#ifndef OSTLER_SIM_CLUSTER_H
#define OSTLER_SIM_CLUSTER_H

#include "base/err.h"
#include "sim/api/api.h"
#include "sim/options.h"
#include "sim/world/sim.h"

struct sim_cluster;

/* Reads the scenario, listens, and writes the kubeconfigs. `options` is borrowed. */
struct sim_cluster *sim_cluster_new(const struct sim_options *options, struct err *e);
/* Closes all connections and frees it. NULL is allowed. */
void sim_cluster_free(struct sim_cluster *c);
/* Reports each action of the scenario as text when it happens. */
void sim_cluster_on_action(struct sim_cluster *c, void (*told)(void *arg, const char *text),
                           void *arg);
/* Advances time and serves clients for at most that many real ms. -1 on a fatal error. */
int sim_cluster_turn(struct sim_cluster *c, int64_t at_most_ms);
/* What a viewer sees of it. Borrowed. */
struct sim_cluster_view {
    const struct clock *clock; /* virtual */
    struct api *api;
    const char *server; /* its address, "https://127.0.0.1:6443" */
    const char *name;   /* the scenario's; "": none */
};
struct sim_cluster_view sim_cluster_view(const struct sim_cluster *c);

#endif
