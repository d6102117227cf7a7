/* What a world is made of: machines, images, drivers, programs, and what happens when. Plain data that a scenario file or a test
 * fills in. Nothing is copied: all of it must live and stay as it is for as long as the actors do. Zero and NULL mean "the
 * usual". */
#ifndef OSTLER_SIM_ACTORS_WORLD_SPEC_H
#define OSTLER_SIM_ACTORS_WORLD_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long something takes: drawn anew each time, both ends included. */
struct spec_delay {
    int64_t low_ms, high_ms;
};

/* A kind of machine; many nodes share one. */
struct spec_shape {
    const char *name;         /* for people and for actions that add nodes */
    const char *os_image;     /* "Ubuntu 24.04.1 LTS" */
    const char *os_id;        /* ID of os-release, "ubuntu": what the labeller says */
    const char *os_version;   /* VERSION_ID, "24.04" */
    const char *kernel;       /* uname -r */
    const char *architecture; /* NULL: amd64 */
    const char *runtime;      /* NULL: containerd://2.1.4 */
    const char *kubelet;      /* NULL: v1.36.3 */
    int gpus;
    const char *resource;     /* that the plugin registers them under, "nvidia.com/mig-1g.10gb"; NULL: nvidia.com/gpu */
    const json_t *more;       /* what the plugin registers besides, {"nvidia.com/mig-2g.20gb": 2}; NULL: nothing */
    const char *gpu_product;  /* "NVIDIA-H100-80GB-HBM3": what the labeller says; NULL: it says only that there is one */
    const char *host_driver;  /* version of a driver that the host brings itself, "580.178.04" */
    bool host_toolkit;        /* the host's runtime has the handler nvidia by itself */
    const json_t *host;       /* what an agent finds on such a machine, of which its word has what the simulator does not know:
                               * system, runtimes, kubelet, the host's driver; NULL: the usual */
    bool host_plugin;         /* the host runs a device plugin itself, for the driver that it brings */
    int64_t cpus;             /* 0: 32 */
    int64_t memory_mib;       /* 0: 131072 */
    int64_t pods;             /* 0: 110 */
    const json_t *labels;     /* further labels of its Node objects (cloud, pool) */
    const json_t *annotations;
    const json_t *taints;     /* that they register with */
    struct spec_delay boot;   /* from power to the kubelet's first word; zero: 60 to 120 s */
};

struct spec_node {
    const char *name;
    const struct spec_shape *shape;
    const json_t *labels; /* besides those of the shape */
};

/* An image that is special; the first row that fits counts. */
struct spec_image {
    const char *pattern;    /* of the whole reference, * stands for anything */
    const char *node;       /* pattern of the node's name; NULL: any */
    struct spec_delay pull; /* zero: latencies.pull */
    bool missing;           /* the registry has it not */
    const char *secret;     /* the registry gives it only to pods that name this pull secret; NULL: to all */
    const char *message;    /* what the registry says when it gives it not; NULL: the usual */
};

enum spec_driver_outcome {
    SPEC_DRIVER_WORKS,
    SPEC_DRIVER_FAILS_BUILD,  /* exits after its build time, again and again */
    SPEC_DRIVER_HANGS,        /* runs and never becomes ready */
    SPEC_DRIVER_FINDS_NO_GPU, /* it loads, and the plugin has nothing to register */
    SPEC_DRIVER_FAILS_PROOF,  /* it loads and is found, and no CUDA program runs on it */
    SPEC_DRIVER_NEEDS_REBOOT, /* fails as a build does until the machine was booted once more */
};

/* What drivers do on kernels; the first row that fits counts, and what no row fits works. */
struct spec_driver {
    const char *version;     /* pattern of the image's tag, "580.*"; NULL: any */
    const char *kernel;      /* pattern of uname -r; NULL: any */
    const char *node;        /* pattern of the node's name; NULL: any */
    enum spec_driver_outcome outcome;
    struct spec_delay build; /* zero: latencies.driver_build */
    const char *loads;       /* the version that its module is of; NULL: that of the tag */
    int exit_code;           /* of a failure; 0: 1 */
    const char *message;     /* its last words, which the kubelet shows; of one that fails the proof, the proof's */
};

/* What containers do that are no operands; the first row that fits the image counts, and what no row fits runs for ever. */
struct spec_program {
    const char *image;       /* pattern; NULL: any */
    const char *pod;         /* pattern of "namespace/name"; NULL: any */
    struct spec_delay run;   /* zero: for ever */
    int exit_code;           /* when it ends by itself */
    const char *message;
    struct spec_delay ready; /* from its start; zero: latencies.ready */
    bool never_ready;
    struct spec_delay stop;  /* after SIGTERM; zero: latencies.stop */
    bool ignores_term;       /* ends with its grace period */
    bool unkillable;         /* does not even end then: until the machine boots */
    bool holds_gpu;          /* it has a GPU open, whether its pod asked for one or not */
};

/* The usual times; zero takes the default in brackets. */
struct spec_latencies {
    struct spec_delay controller;    /* a controller acts on what it has seen [10 to 50 ms] */
    struct spec_delay scheduler;     /* [5 to 30 ms] */
    struct spec_delay kubelet;       /* [20 to 200 ms] */
    struct spec_delay collector;     /* the garbage collector [50 to 500 ms] */
    struct spec_delay pull;          /* an image that is not on the node yet [1 to 8 s] */
    struct spec_delay start;         /* a container starts [200 to 900 ms] */
    struct spec_delay ready;         /* a started container becomes ready [0] */
    struct spec_delay stop;          /* a container ends after SIGTERM [100 to 1500 ms] */
    struct spec_delay driver_build;  /* [60 to 240 s] */
    struct spec_delay toolkit;       /* it installs itself [6 to 15 s] */
    struct spec_delay plugin;        /* from the plugin's start to its registration [1 to 3 s] */
    struct spec_delay device_update; /* devices that are gone show in the node's status [1 to 10 s] */
    int64_t node_grace_ms;           /* a silent node is Unknown [50000] */
    int64_t heartbeat_ms;            /* kubelets renew their status; 0: never, since silence is known without */
};

/* Something that happens at a time. What names an object takes `kind` as in a path ("daemonsets"), `ns` and `name`. */
enum spec_deed {
    SPEC_CREATE,     /* body: the object */
    SPEC_APPLY,      /* body: the object, by server-side apply with force */
    SPEC_EDIT,       /* body: a merge patch */
    SPEC_DELETE,
    SPEC_EVICT,      /* a pod */
    SPEC_CORDON,     /* a node, as the next three */
    SPEC_UNCORDON,
    SPEC_LABEL,      /* body: {key: value or null} */
    SPEC_ANNOTATE,   /* of any kind; body: {key: value or null} */
    SPEC_TAINT,      /* body: the taint; one of the same key and effect is replaced */
    SPEC_UNTAINT,    /* body: {key, effect}; without an effect all of that key */
    SPEC_REBOOT,     /* a machine by its name, as the next six */
    SPEC_NODE_DOWN,
    SPEC_NODE_UP,
    SPEC_NODE_CUT_OFF, /* nobody hears of it, while what runs there goes on */
    SPEC_NODE_REJOIN,
    SPEC_NODE_ADD,   /* shape */
    SPEC_NODE_REMOVE,/* the Node object and the machine */
    SPEC_CRASH,      /* the main containers of a pod; body: {exitCode, message}, may be NULL */
    SPEC_LABELLER_RESTART,
    SPEC_EDIT_STATUS,  /* body: a merge patch; of what an object says of itself */
    SPEC_GPUS_OUT,     /* a machine by its name, as the next four: its GPUs are gone from the bus */
    SPEC_GPUS_IN,
    SPEC_AGENT_SAYS,   /* its agent says something else than it sees. Body: what differs, as a merge patch; {}: the truth again */
    SPEC_AGENT_SILENT, /* its agent runs and says nothing more, until it is made to say something */
    SPEC_AGENT_RESTART,
    SPEC_KUBELET_RESTART,
    SPEC_DEED_COUNT
};

struct spec_action {
    int64_t at_ms;
    enum spec_deed deed;
    const char *user; /* NULL: "alice" */
    const char *kind, *ns, *name;
    const json_t *body;
    const struct spec_shape *shape;
};

/* Adds nodes for pods that wait for GPUs, and removes nodes that nobody uses. */
struct spec_autoscaler {
    const struct spec_shape *shape; /* NULL: there is no autoscaler */
    const char *prefix;             /* of the nodes' names; NULL: the shape's name */
    int max;                        /* nodes of its own */
    int64_t scan_ms;                /* 0: 10 s */
    int64_t idle_ms;                /* 0: 10 min */
};

/* Writes to nodes by reading, changing and writing them back under their version. */
struct spec_other_operator {
    const char *name;         /* its user and the prefix of its keys, "maintenance.example.com"; NULL: there is none */
    struct spec_delay period; /* between two of its writes to one node */
    int64_t until_ms;         /* it rests from then on; 0: never */
};

/* Puts an object back to what is in "Git". */
struct spec_gitops {
    const json_t *object; /* NULL: there is none */
    const char *kind;     /* as in a path */
    int64_t period_ms;    /* 0: 3 min */
};

struct spec_world {
    const struct spec_node *nodes;
    size_t node_count;
    const struct spec_shape
        *others; /* the machine of Node objects that somebody else creates; NULL: they have none, and nothing runs there */
    const struct spec_image *images;
    size_t image_count;
    const struct spec_driver *drivers;
    size_t driver_count;
    const struct spec_program *programs;
    size_t program_count;
    const struct spec_action *actions;
    size_t action_count;
    const json_t *objects; /* list of manifests that are there from the beginning; each with apiVersion and kind */
    struct spec_latencies latencies;
    struct spec_autoscaler autoscaler;
    struct spec_other_operator other_operator;
    struct spec_gitops gitops;
    bool labeller; /* Node Feature Discovery labels the nodes */
};

#endif
