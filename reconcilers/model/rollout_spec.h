/* The policy's spec.rollout in the types that decisions use. */
#ifndef OSTLER_RECONCILERS_MODEL_ROLLOUT_SPEC_H
#define OSTLER_RECONCILERS_MODEL_ROLLOUT_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconcilers/model/window.h"

/* A number of nodes or GPUs, or a percentage of them. */
struct rollout_count {
    bool percent;
    int64_t value; /* -1: no limit */
};

enum rollout_order { ROLLOUT_IDLE_FIRST, ROLLOUT_BY_NAME };
enum rollout_on_failure { ROLLOUT_ROLLBACK, ROLLOUT_PAUSE };
enum drain_mode { DRAIN_GPU_PODS, DRAIN_ALL_PODS };
enum drain_on_timeout { DRAIN_RELEASE, DRAIN_DELETE };

struct drain_spec {
    enum drain_mode mode;
    int64_t wait_for_jobs_s; /* -1: until they end */
    bool repairs;            /* that is the time of health.drainAfter (drain_of_claim()) */
    int64_t timeout_s;
    enum drain_on_timeout on_timeout;
    bool delete_empty_dir;
    bool force;            /* pods without a controller may be evicted too */
    const char *taint_key; /* key of the upgrade taint; borrowed from the policy's spec */
    /* Evict only these pods; NULL: all. Borrowed from the policy's spec. */
    const json_t *pod_selector;
};

enum { ROLLOUT_WINDOWS_MAX = 16 };

struct rollout_spec {
    bool paused;
    bool manual; /* approval: Manual */
    struct rollout_count max_parallel, max_unavailable, max_unavailable_gpus, failure_threshold;
    const char *topology_key; /* NULL: none; borrowed from the policy's spec */
    enum rollout_order order;
    int64_t canary_nodes, canary_soak_s, soak_s;
    enum rollout_on_failure on_failure;
    struct window windows[ROLLOUT_WINDOWS_MAX];
    size_t window_count;
    struct drain_spec drain;
    int64_t install_timeout_s, validation_timeout_s;
};

/* Decodes a valid effective spec (struct policy.spec), which must outlive the result. */
void rollout_spec_decode(const json_t *spec, struct rollout_spec *ret);
/* A count of a section of the effective spec, by its path. */
struct rollout_count spec_count_at(const json_t *section, const char *path);
/* A duration of a section of the effective spec, in seconds; -1: it is not set. */
int64_t spec_span_at(const json_t *section, const char *path);
/* The number for a total of `all`: a percentage is rounded up; SIZE_MAX: no limit. */
size_t rollout_count_of(const struct rollout_count *c, size_t all);

#endif
