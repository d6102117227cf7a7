/* What the checks read of policies and claims. The oracle shares no code with what it judges: the
 * decoders, the rounding and the claim parser of Ostler are not used here. docs/policy.md is the
 * source of the defaults. */
#ifndef OSTLER_TESTS_SWEEP_READING_H
#define OSTLER_TESTS_SWEEP_READING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READING_TEXT_MAX = 128 };

/* The annotation ostler.dev/claim of a node. */
struct reading_claim {
    char policy[READING_TEXT_MAX]; /* uid */
    char phase[READING_TEXT_MAX], kind[READING_TEXT_MAX], reason[READING_TEXT_MAX];
    /* what the node is to run; "": none */
    char driver[READING_TEXT_MAX], stack[READING_TEXT_MAX];
    char from_driver[READING_TEXT_MAX], from_stack[READING_TEXT_MAX]; /* what it ran before */
    int64_t generation, attempt, gpus;
};

/* False: the node has no claim, or none whose members have these types. */
bool reading_claim(const json_t *node, struct reading_claim *ret);
/* Whether a node in this phase holds a place of maxParallel. */
bool reading_has_place(const struct reading_claim *c);
/* Whether the node's driver or stack is being exchanged in this phase. */
bool reading_is_changing(const struct reading_claim *c);
/* Whether a node with this claim is out of service: after a drain that took too long it is not. */
bool reading_closes(const struct reading_claim *c);
/* Whether the node bears the taint of an upgrade. */
bool reading_is_closed(const json_t *node);

/* A limit of spec.rollout, such as "maxUnavailable", out of so many nodes or GPUs: SIZE_MAX where
 * there is none. A percentage is rounded up, as Kubernetes rounds maxUnavailable of a
 * PodDisruptionBudget (k8s.io/apimachinery/pkg/util/intstr.GetScaledValueFromIntOrPercent with
 * roundUp; docs/policy.md says the same). */
size_t reading_limit(const json_t *policy, const char *field, size_t total);
/* The time in which the storm brake counts newly unhealthy nodes, and how many it allows then. */
int64_t reading_brake_window_ms(const json_t *policy);
size_t reading_brake_nodes(const json_t *policy, size_t total);
/* How many nodes of a revision go before all others; seconds for which they must have worked before
 * the others follow. */
int64_t reading_canary_nodes(const json_t *policy);
int64_t reading_canary_soak_s(const json_t *policy);
bool reading_is_paused(const json_t *policy);
bool reading_asks_approval(const json_t *policy);
/* The label whose values divide the nodes into domains; NULL: there are none. Borrowed. */
const char *reading_topology_key(const json_t *policy);
/* The name of the pool that a node is in: the first whose nodeSelector it has, else "default".
 * Borrowed. */
const char *reading_pool(const json_t *policy, const json_t *node);
/* A field of the taint that the policy's text wants on a node: its pool's, else the policy's; NULL:
 * neither says. Borrowed. */
const json_t *reading_taint(const json_t *policy, const json_t *node, const char *field);
/* Whether a window is open at that time, seconds of the epoch; true where the policy has none. A
 * window begins at each minute that its schedule names by the clock of its time zone; minutes that
 * a change of the clock skips begin right after the gap. Zones are those of the machine's own
 * database. */
bool reading_window_open(const json_t *policy, int64_t at_s);
/* A duration as Go writes it, "1h30m", in milliseconds; -1: it is none. */
int64_t reading_duration_ms(const char *text);

#endif
