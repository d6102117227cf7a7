/* The description of a simulated world: machines, images, drivers, programs and timed actions.
 * Plain data, filled in by a scenario file or a test. Nothing is copied: the data must outlive the
 * actors unchanged. Zero and NULL mean the default. */
#ifndef OSTLER_SIM_ACTORS_WORLD_SPEC_H
#define OSTLER_SIM_ACTORS_WORLD_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/actors/action_rows.h"
#include "sim/actors/fault_rows.h"

/* A duration, drawn at random each time; both ends included. */
struct spec_delay {
    int64_t low_ms, high_ms;
};

/* A type of machine, shared by many nodes. */
struct spec_shape {
    const char *name;         /* for users, and for actions that add nodes */
    const char *os_image;     /* "Ubuntu 24.04.1 LTS" */
    const char *os_id;        /* ID of os-release, "ubuntu", for the labeller */
    const char *os_version;   /* VERSION_ID, "24.04" */
    const char *kernel;       /* uname -r */
    const char *architecture; /* NULL: amd64 */
    const char *runtime;      /* NULL: containerd://2.1.4 */
    const char *kubelet;      /* NULL: v1.36.3 */
    int gpus;
    const char *resource; /* of its GPUs, "nvidia.com/mig-1g.10gb"; NULL: nvidia.com/gpu */
    /* other resources that the plugin registers, {"nvidia.com/mig-2g.20gb": 2}; NULL: none */
    const json_t *more;
    /* "NVIDIA-H100-80GB-HBM3", for the labeller; NULL: it only labels that there is a GPU */
    const char *gpu_product;
    const char *host_driver; /* version of the host's own driver, "580.178.04" */
    bool host_toolkit;       /* the host's runtime already has the handler nvidia */
    /* an agent's findings on such a machine, for facts that are not simulated: system, runtimes,
     * kubelet, host driver; NULL: the default */
    const json_t *host;
    bool host_plugin; /* the host runs its own device plugin for its driver */
    /* the agent reports what NVML says of the GPUs' health; always in a world with gpu_faults */
    bool gpu_health;
    int64_t cpus;         /* 0: 32 */
    int64_t memory_mib;   /* 0: 131072 */
    int64_t pods;         /* 0: 110 */
    const json_t *labels; /* additional labels of its Node objects (cloud, pool) */
    const json_t *annotations;
    const json_t *taints;   /* at registration */
    struct spec_delay boot; /* from power on to the kubelet's first report; zero: 60 to 120 s */
};

struct spec_node {
    const char *name;
    const struct spec_shape *shape;
    const json_t *labels; /* in addition to those of the shape */
};

/* An image with special behavior; the first matching row counts. */
struct spec_image {
    const char *pattern;    /* of the whole reference; * matches any text */
    const char *node;       /* pattern of the node's name; NULL: any */
    struct spec_delay pull; /* zero: latencies.pull */
    bool missing;           /* not in the registry */
    const char *secret;     /* only pods with this pull secret may pull it; NULL: all */
    const char *message;    /* the registry's refusal; NULL: the default */
};

/* What becomes of a driver: id and name in a scenario. */
#define SPEC_DRIVER_OUTCOMES(X)                                                                    \
    X(WORKS, "Works")                                                                              \
    X(FAILS_BUILD, "FailsBuild")   /* exits after its build time, each time */                     \
    X(HANGS, "Hangs")              /* runs and never becomes ready */                              \
    X(FINDS_NO_GPU, "FindsNoGpu")  /* loads, but the plugin finds no device */                     \
    X(FAILS_PROOF, "FailsProof")   /* loads and is found, but CUDA programs fail */                \
    X(NEEDS_REBOOT, "NeedsReboot") /* fails like a build until the machine has rebooted */

enum spec_driver_outcome {
#define X(id, name) SPEC_DRIVER_##id,
    SPEC_DRIVER_OUTCOMES(X)
#undef X
};

/* Behavior of drivers on kernels; the first matching row counts; without a row, a driver works. */
struct spec_driver {
    const char *version; /* pattern of the image's tag, "580.*"; NULL: any */
    const char *kernel;  /* pattern of uname -r; NULL: any */
    const char *node;    /* pattern of the node's name; NULL: any */
    enum spec_driver_outcome outcome;
    struct spec_delay build; /* zero: latencies.driver_build */
    const char *loads;       /* version of its module; NULL: that of the tag */
    int exit_code;           /* of a failure; 0 means 1 */
    const char *message;     /* termination message of a failure, or of the failed validation */
};

/* Behavior of containers that are not operands; the first row that matches the image counts;
 * without a row, a container runs for ever. */
struct spec_program {
    const char *image;     /* pattern; NULL: any */
    const char *pod;       /* pattern of "namespace/name"; NULL: any */
    struct spec_delay run; /* zero: for ever */
    int exit_code;         /* if it ends by itself */
    const char *message;
    struct spec_delay ready; /* from its start; zero: latencies.ready */
    bool never_ready;
    struct spec_delay stop; /* after SIGTERM; zero: latencies.stop */
    bool ignores_term;      /* ends only with its grace period */
    bool unkillable;        /* does not end even then, until the machine boots */
    bool holds_gpu;         /* it has a GPU open, even if its pod did not request one */
};

/* Latencies; zero means the default in brackets. */
struct spec_latencies {
    struct spec_delay controller;   /* a controller reacts to a commit [10 to 50 ms] */
    struct spec_delay scheduler;    /* [5 to 30 ms] */
    struct spec_delay kubelet;      /* [20 to 200 ms] */
    struct spec_delay collector;    /* the garbage collector [50 to 500 ms] */
    struct spec_delay pull;         /* an image that is not on the node [1 to 8 s] */
    struct spec_delay start;        /* a container starts [200 to 900 ms] */
    struct spec_delay ready;        /* a started container becomes ready [0] */
    struct spec_delay stop;         /* a container ends after SIGTERM [100 to 1500 ms] */
    struct spec_delay driver_build; /* [60 to 240 s] */
    struct spec_delay toolkit;      /* its installation [6 to 15 s] */
    struct spec_delay plugin;       /* from the plugin's start to its registration [1 to 3 s] */
    /* until the node's status shows that devices are gone [1 to 10 s] */
    struct spec_delay device_update;
    int64_t node_grace_ms; /* a silent node becomes Unknown [50000] */
    /* period of status updates; 0: none, since silence is detected without them */
    int64_t heartbeat_ms;
};

/* A fault of a GPU. What it does not say is as its kind has it. */
struct spec_gpu_fault {
    enum spec_fault_kind kind;
    int gpu;             /* its place on the bus, from 0 */
    int xid;             /* in the kernel log; 0: as its kind has it, or none */
    int times;           /* so many lines at once; 0: one */
    bool fatal;          /* for faults of NVLink 5 and NVSwitches */
    bool nvswitch;       /* it is of the NVSwitch, an SXid */
    bool off_the_bus;    /* the GPU responds with ones, and NVML says that it is lost */
    enum spec_cure cure; /* what ends it */
    /* what NVML reports of the GPU meanwhile */
    enum spec_recovery recovery;
    enum spec_fabric fabric;
    bool remap_pending, remap_failed, sram_exceeded, hangs;
    int double_bit_errors;
    /* it is gone after so long; 0: only its cure ends it */
    int64_t lasts_ms;
    int64_t again_ms; /* and comes again after so long, until its cure ends it; 0: never */
    bool no_boot;     /* with it the machine does not boot */
};

/* Objects are named by `kind` as in a path ("daemonsets"), `ns` and `name`. */
struct spec_action {
    int64_t at_ms;
    int64_t every_ms;  /* it happens again after so long, and so on; 0: once */
    const char *about; /* one sentence for readers instead of the usual words; NULL: none */
    enum spec_verb verb;
    const char *user; /* NULL: "alice" */
    const char *kind, *ns, *name;
    const json_t *body;
    const struct spec_shape *shape;
    struct spec_gpu_fault fault; /* as the body has it, for actions on GPUs */
};

/* Adds nodes for pods that wait for GPUs, and removes idle nodes. */
struct spec_autoscaler {
    const struct spec_shape *shape; /* NULL: no autoscaler */
    const char *prefix;             /* of node names; NULL: the shape's name */
    int max;                        /* limit of its own nodes */
    int64_t scan_ms;                /* 0: 10 s */
    int64_t idle_ms;                /* 0: 10 min */
};

/* Another operator, which updates nodes by read, change and write with the resource version. */
struct spec_other_operator {
    /* its user and the prefix of its keys, "maintenance.example.com"; NULL: none */
    const char *name;
    struct spec_delay period; /* between two writes to one node */
    int64_t until_ms;         /* it stops then; 0: never */
};

/* A GitOps controller, which restores an object to its state in "Git". */
struct spec_gitops {
    const json_t *object; /* NULL: no controller */
    const char *kind;     /* as in a path */
    int64_t period_ms;    /* 0: 3 min */
};

/* kured: reboots machines that ask for it. */
struct spec_kured {
    struct spec_delay after; /* from the wish to the reboot; zero: there is no kured */
};

/* The share of a kind of faults among the random ones. */
struct spec_fault_share {
    enum spec_fault_kind kind;
    int weight;
};

/* Many nodes get the same fault within a short time. */
struct spec_fault_storm {
    int64_t after_ms; /* from the beginning of the faults */
    int64_t within_ms;
    const char *node; /* pattern of the nodes' names; NULL: any */
    int nodes;        /* so many of them */
    enum spec_fault_kind kind;
};

/* A driver that causes faults: on each node where it is loaded, again and again. */
struct spec_fault_bug {
    const char *version; /* pattern of the image's tag, "590.*" */
    enum spec_fault_kind kind;
    struct spec_delay every;
};

/* Faults of GPUs that come by themselves. Without rate, storms and bugs there are none. */
struct spec_gpu_faults {
    int rate;                           /* faults in a million GPU-days, as 470 */
    int speed_up;                       /* so many times as often; 0: 1 */
    const struct spec_fault_share *mix; /* NULL: the usual weights */
    size_t mix_count;
    const struct spec_fault_storm *storms;
    size_t storm_count;
    const struct spec_fault_bug *bugs;
    size_t bug_count;
    /* Of the random faults so many percent end only with another GPU, come and go, or keep the
     * machine from booting. */
    int sticky, flapping, no_boot;
    struct spec_delay repairs; /* a technician replaces the GPU after so long; zero: never */
    bool waits;                /* there are none before the action FaultsBegin */
};

/* Rows that replace those of the world from a time on, such as images that appear or drivers that
 * get fixed. A list that is NULL stays. */
struct spec_change {
    int64_t at_ms;
    const struct spec_image *images;
    size_t image_count;
    const struct spec_driver *drivers;
    size_t driver_count;
    const struct spec_program *programs;
    size_t program_count;
};

struct spec_world {
    const struct spec_node *nodes;
    size_t node_count;
    /* the shape for Node objects that users create; NULL: no machine, and nothing runs there */
    const struct spec_shape *others;
    const struct spec_image *images;
    size_t image_count;
    const struct spec_driver *drivers;
    size_t driver_count;
    const struct spec_program *programs;
    size_t program_count;
    const struct spec_action *actions;
    size_t action_count;
    const json_t *objects; /* list of initial manifests, each with apiVersion and kind */
    struct spec_latencies latencies;
    struct spec_autoscaler autoscaler;
    struct spec_other_operator other_operator;
    struct spec_gitops gitops;
    struct spec_gpu_faults gpu_faults;
    struct spec_kured kured;
    bool labeller; /* Node Feature Discovery labels the nodes */
};

/* Whether GPUs get faults by themselves in this world. */
static inline bool spec_has_faults(const struct spec_world *w)
{
    const struct spec_gpu_faults *f = &w->gpu_faults;
    return f->rate || f->storm_count || f->bug_count;
}

#endif
