/* Machines and their kubelets: pods, containers, and the state of the GPU driver. Only for this
 * directory. */
#ifndef OSTLER_SIM_ACTORS_KUBELET_H
#define OSTLER_SIM_ACTORS_KUBELET_H

#include "sim/actors/gpu.h"
#include "sim/actors/objects.h"

#define KUBELET_USER "kubelet"
#define RESOURCE_GPU "nvidia.com/gpu"
#define LABEL_COMPONENT "app.kubernetes.io/component" /* of operands' pods */

/* The behavior of a container after its start; times are relative to the start. */
struct run {
    int64_t ends_ms;  /* it ends by itself; -1: never */
    int64_t step_ms;  /* operand_step() is called; -1: never */
    int64_t ready_ms; /* it becomes ready; -1: never */
    int64_t stop_ms;  /* time to end after SIGTERM; -1: until it is killed */
    bool waits;       /* it ends with success once operand_may_go() is true */
    bool unkillable;
    int code;            /* exit code if it ends by itself */
    int stop_code;       /* exit code after SIGTERM */
    const char *message; /* termination message if it ends by itself; borrowed while it runs */
};

enum box_state {
    BOX_NONE, /* not started yet */
    BOX_PULLING,
    BOX_NO_IMAGE, /* the pull failed and is retried */
    BOX_STARTING,
    BOX_RUNNING,
    BOX_BACKOFF, /* it ended and will be restarted */
    BOX_DONE,    /* it ended for good */
};

/* How a container ended. */
struct ending {
    bool is;
    int code;
    const char *reason; /* static text */
    char *message;      /* owned; NULL: none */
    int64_t started_ms, finished_ms;
};

/* A container. */
struct box {
    struct pod_box *pod;
    const json_t *spec; /* borrowed from the pod's object */
    const char *name, *image;
    bool init;
    enum box_state state;
    const char *reason; /* of waiting; static text */
    char *message;      /* of waiting; owned */
    struct run run;
    struct sim_event event;
    int64_t started_ms, ready_at_ms, step_at_ms, ends_at_ms; /* -1: not scheduled */
    bool ready;
    bool stopping, killed;
    bool holds_module;
    bool shows_end; /* shows how it ended instead of that it waits */
    int restarts;
    struct ending now, last;
    int64_t crash_backoff_ms, pull_backoff_ms;
};

/* A pod in its kubelet. It outlives the API object, because containers need time to end. */
struct pod_box {
    struct machine *machine;
    char *uid, *key;
    json_t *object;    /* as of the last sync; owned */
    json_t *first;     /* the first version, from which containers borrow; owned */
    struct box *boxes; /* init containers first */
    size_t box_count, init_count;
    bool admitted, sandbox;
    const char *rejected; /* reason; static text */
    char *rejection;      /* message; owned */
    bool terminating;
    bool gone;          /* deleted in the API server */
    int64_t kill_at_ms; /* end of its grace period */
    int64_t start_ms;
    struct sim_event status_event, kill_event, retry_event;
};

/* A ready file; NULL: none. */
struct sign {
    char *what, *whose;
};

/* A machine. A reboot clears /run and memory. */
struct machine {
    struct kubelet *kubelet;
    struct actors *a;
    char *name;
    int number; /* in order of creation; determines its address */
    const struct spec_shape *shape;
    const json_t *labels;
    bool up;
    bool cut_off;        /* containers go on, but no data reaches the API server or comes from it */
    bool from_beginning; /* it was running before the simulation started */
    int boots;
    char boot_id[40];
    struct sim_event boot_event, node_event, capacity_event, heartbeat_event, agent_event;
    struct pod_box **pods;
    size_t pod_count, pod_cap;
    struct map images; /* on its disk: each name is its own value */
    bool handler;      /* its runtime has the handler nvidia: on disk */
    /* ---- the driver */
    char *module;             /* version of the loaded module; NULL: none */
    char *digest;             /* contents of /run/nvidia/nvidia-driver.state; NULL: no file */
    bool pid_file;            /* a driver container has loaded the module */
    size_t users;             /* containers that use the module */
    struct sign driver_sign;  /* the driver's: digest and pod of this boot */
    struct sign toolkit_sign; /* the toolkit's: revision and the driver's digest */
    char *half_done;          /* a driver that only works after another boot … */
    int half_done_boots;      /* … and the number of boots when it was tried */
    /* ---- its agent */
    const json_t *agent_says; /* merge patch over its true findings; NULL: none. Borrowed */
    bool agent_silent;
    /* ---- devices */
    int gpus;              /* on its bus */
    struct gpus gpu_state; /* what is wrong with them */
    int64_t devices;       /* registered by the plugin */
    /* a plugin has registered once: its resources stay in the node's status for ever */
    bool plugged;
    int64_t capacity; /* as in the node's status */
    char *plugin;     /* uid of the pod that runs the plugin, or "host"; NULL: none */
    char *words;      /* facts of the last validation there; NULL: none */
    /* ---- repairs by one-off pods */
    char *repair_words;             /* what the last one said; NULL: nothing of its own */
    bool reboot_required;           /* the file that kured watches is there */
    uint64_t resets, reboots_asked; /* programs that began to reset GPUs, to reboot the machine */
    uint64_t modules_unloaded, unloads_under_use;
};

/* The kubelets of all machines. */
struct kubelet {
    struct actors *a;
    struct agenda draws; /* its random stream alone */
    /* pods to sync: "<uid> namespace/name", because another pod may reuse the name */
    struct agenda pods;
    struct agenda nodes; /* names of Node objects to sync */
    struct map machines; /* by name */
    int machines_made;
    struct map boxes; /* pod boxes by uid */
};

/* Draws a random delay in ms from the kubelets' stream. */
int64_t kubelet_draw(struct kubelet *k, struct spec_delay delay);
/* Schedules a sync of the pod. */
void kubelet_note(struct kubelet *k, const json_t *pod);

/* ---- machine.c */
struct machine *machine_new(struct kubelet *k, const char *name, const struct spec_shape *shape,
                            const json_t *labels);
void machine_free(struct machine *m);
/* Power off: containers and memory are lost. */
void machine_off(struct machine *m);
/* Cuts or restores the network connection, while containers go on. A boot also restores it. */
void machine_cut_off(struct machine *m);
void machine_rejoin(struct machine *m);
/* Whether its kubelet can reach the API server. */
bool machine_talks(const struct machine *m);
/* Boots; the kubelet registers afterwards. `at_once`: it was running before the simulation
 * started. */
void machine_on(struct machine *m, bool at_once);
/* Off and on again; it may stay off. */
void machine_reboot(struct machine *m);
/* NULL: there is none. */
struct machine *machine_named(const struct actors *a, const char *name);
/* Changes the number of GPUs on its bus; a plugin offers the same number. */
void machine_set_gpus(struct machine *m, int gpus);
/* Wakes containers that wait for a state of this machine. */
void machine_changed(struct machine *m);
bool machine_has_image(const struct machine *m, const char *image);
void machine_add_image(struct machine *m, const char *image);

/* ---- kubelet_node.c */
/* Registers the Node, or reports that the kubelet of this boot is ready. `at_once`: a new Node is
 * ready at once. */
void node_register(struct machine *m, bool at_once);
/* Writes changed devices after a while. */
void node_note_devices(struct machine *m);
/* The kubelet reports Ready with this boot's id. Does nothing if there is no Node. */
void node_post_ready(struct machine *m);

/* ---- kubelet_pod.c */
/* Adds a pod to a machine without starting it. Owned by the machine. */
struct pod_box *pod_box_new(struct machine *m, json_t *object);
void pod_box_free(struct pod_box *p);
/* Syncs with a new version of the object, and advances. */
void pod_box_sync(struct pod_box *p, json_t *object);
/* Takes the next steps of the pod's life. */
void pod_box_advance(struct pod_box *p);
/* All containers are lost with the machine; the kubelet reports that when it is back. */
void pod_box_lose(struct pod_box *p);
/* The machine is back: starts the pod again. */
void pod_box_begin_anew(struct pod_box *p);

/* ---- kubelet_container.c */
/* Starts its turn: pulls the image if it is missing, then starts the container. */
void box_begin(struct box *b);
/* Sends SIGTERM; the pod's kill time ends it. */
void box_stop(struct box *b);
/* Kills it at once, unless it is unkillable. */
void box_kill(struct box *b);
/* It ends by itself now. */
void box_end(struct box *b, int code, const char *message);
/* It is lost without an exit status, as in a power failure. */
void box_lose(struct box *b);
void box_clear(struct box *b);
bool box_is_alive(const struct box *b);
/* Lets a waiting container continue. */
void box_let_go(struct box *b);

/* ---- kubelet_status.c */
/* Writes the pod's status if it differs from that in the API server; the last one has a final
 * phase. */
void pod_write_status(struct pod_box *p, bool last);
/* The same soon, so that simultaneous changes share a write. */
void pod_note_status(struct pod_box *p);

/* ---- node_agent.c */
/* Where an agent notices a change of a GPU. */
enum gpu_sign { SIGN_ON_BUS, SIGN_IN_LOG, SIGN_OF_NVML };
/* A fault came or went: a running agent notices it with its next look there. */
void agent_note_fault(struct machine *m, enum gpu_sign sign);
/* The agent's container is up: it scans. */
void agent_step(struct box *b);
/* The machine has changed: a running agent scans. */
void agent_note(struct machine *m);
/* From now on its report has this merge patch applied; {}: unchanged. Borrowed, like the world. */
void agent_report(struct machine *m, const json_t *patch);
/* It runs, but reports nothing until agent_report(). */
void agent_silence(struct machine *m);
/* Its container ends and is restarted. */
void agent_restart(struct machine *m);
/* The number of GPUs that it reports. */
int agent_sees(const struct machine *m);

/* ---- driver.c */
/* Whether the container is the node's agent. */
bool operand_is_agent(const struct box *b);
/* Whether the container is a foreign device plugin. */
bool operand_is_foreign_plugin(const struct box *b);
/* The behavior of an operand's container; false if it is not an operand. */
bool operand_run(struct box *b, struct run *ret);
/* Whether a waiting container may end with success; false if it is not an operand. */
bool operand_may_go(const struct box *b);
/* What an operand acts upon. */
enum operand_event {
    OPERAND_STEP,     /* at run.step_ms */
    OPERAND_READY,    /* it becomes ready */
    OPERAND_STOPPING, /* SIGTERM; may change b->run.stop_ms and stop_code */
    OPERAND_ENDED,    /* after any end */
    OPERAND_EVENTS
};
void operand_on(struct box *b, enum operand_event event);
/* Whether the container uses the kernel module while it runs. */
bool operand_holds_module(const struct box *b);
/* After a boot: loads the module of the host's own driver. */
void driver_boot(struct machine *m);
/* Whether the loaded driver works with the machine's GPUs. */
bool driver_finds_gpus(const struct machine *m);

/* ---- device_plugin.c */
/* Behavior of a device plugin's container: it registers the machine's GPUs with the kubelet until
 * it ends. */
struct run device_plugin_run(struct box *b);
void device_plugin_step(struct box *b);
void device_plugin_ended(struct box *b);
/* After a boot: the host's own plugin registers the GPUs, if the host's driver is loaded. */
void device_plugin_boot(struct machine *m);

/* ---- repair.c */
/* Behavior of the containers that reset GPUs, and reboot the machine. */
struct run reset_pod_run(struct box *b);
void reset_step(struct box *b);
struct run reboot_pod_run(struct box *b);
void reboot_step(struct box *b);

/* The number of devices of this resource that a pod's containers request. */
int64_t pod_devices(const json_t *pod, const char *resource);
/* Whether its GPUs are divided into MIG devices. */
bool machine_is_divided(const struct machine *m);
/* The resource of a machine's GPUs. */
const char *machine_resource(const struct machine *m);
/* The number of devices of a resource that the plugin registers, if it registers `gpus` of the
 * machine's first resource. */
int64_t machine_gives(const struct machine *m, const char *resource, int64_t gpus);

#endif
