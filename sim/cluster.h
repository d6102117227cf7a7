/* A simulated cluster behind a network address: virtual time that follows the real one, the API server, everybody in it, and who
 * may come in. */
#ifndef OSTLER_SIM_CLUSTER_H
#define OSTLER_SIM_CLUSTER_H

#include "base/err.h"
#include "sim/api/api.h"
#include "sim/options.h"
#include "sim/world/sim.h"

struct sim_cluster;

/* Reads the scenario, listens and writes the kubeconfigs. `options` is borrowed. */
struct sim_cluster *sim_cluster_new(const struct sim_options *options, struct err *e);
/* Ends it with all its connections. NULL is none. */
void sim_cluster_free(struct sim_cluster *c);
/* From now on each action of the scenario is told as it happens, in words. */
void sim_cluster_on_action(struct sim_cluster *c, void (*told)(void *arg, const char *text), void *arg);
/* Lets time pass and serves clients, for at most that many real ms. -1 when it cannot go on. */
int sim_cluster_turn(struct sim_cluster *c, int64_t at_most_ms);
/* Virtual time. */
const struct clock *sim_cluster_clock(const struct sim_cluster *c);
/* The API server, for who looks. Borrowed. */
struct api *sim_cluster_api(struct sim_cluster *c);
/* Its address, "https://127.0.0.1:6443". Borrowed. */
const char *sim_cluster_server(const struct sim_cluster *c);
/* The scenario's name; "" when there is none. */
const char *sim_cluster_name(const struct sim_cluster *c);

#endif
