/* Machines, and what a kubelet runs on them: pods, containers, and the state of the GPU's driver. Only for this folder. */
#ifndef OSTLER_SIM_ACTORS_KUBELET_H
#define OSTLER_SIM_ACTORS_KUBELET_H

#include "sim/actors/objects.h"

#define KUBELET_USER "kubelet"
#define RESOURCE_GPU "nvidia.com/gpu"
#define LABEL_COMPONENT "app.kubernetes.io/component" /* of operands' pods */

struct kubelet;
struct machine;
struct box;

/* What a container does from its start on. */
struct run {
    int64_t ends_ms;   /* it ends by itself after that; -1: it does not */
    int64_t step_ms;   /* operand_step() is called after that; -1: never */
    int64_t ready_ms;  /* it becomes ready after that; -1: never */
    int64_t stop_ms;   /* it takes so long to end when it is asked to; -1: until it is killed */
    bool waits;        /* it ends well when operand_may_go() says so */
    bool unkillable;
    int code;          /* of its own end */
    int stop_code;     /* of its end when it was asked to */
    const char *message; /* last words of its own end; borrowed for as long as it runs */
};

enum box_state {
    BOX_NONE,      /* its turn has not come */
    BOX_PULLING,
    BOX_NO_IMAGE,  /* the pull has failed, and is tried again */
    BOX_STARTING,
    BOX_RUNNING,
    BOX_BACKOFF,   /* it has ended, and is started again */
    BOX_DONE,      /* it has ended for good */
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
    const json_t *spec;  /* borrowed from the pod's object */
    const char *name, *image;
    bool init;
    enum box_state state;
    const char *reason;  /* of waiting; static text */
    char *message;       /* of waiting; owned */
    struct run run;
    struct sim_event event;
    int64_t started_ms, ready_at_ms, step_at_ms, ends_at_ms; /* -1: not */
    bool ready;
    bool stopping, killed;
    bool holds_module;
    bool shows_end;      /* it shows how it ended rather than that it waits */
    int restarts;
    struct ending now, last;
    int64_t crash_backoff_ms, pull_backoff_ms;
};

/* A pod as a kubelet has it: longer than the API server has, since containers take their time to end. */
struct pod_box {
    struct machine *machine;
    char *uid, *key;
    json_t *object;      /* as it was when it was last looked at; owned */
    json_t *first;       /* as it was first; containers borrow from it; owned */
    struct box *boxes;   /* init containers first */
    size_t box_count, init_count;
    bool admitted, sandbox;
    const char *rejected; /* reason; static text */
    char *rejection;     /* message; owned */
    bool terminating;
    bool gone;           /* the API server has it no more */
    int64_t kill_at_ms;  /* when its grace period is over */
    int64_t start_ms;
    struct sim_event status_event, kill_event, retry_event;
};

/* A machine. What is in /run and in memory goes with a reboot. */
struct machine {
    struct kubelet *kubelet;
    struct actors *a;
    char *name;
    int number;              /* of all machines, in the order of their coming: its address follows from it */
    const struct spec_shape *shape;
    const json_t *labels;
    bool up;
    bool cut_off;            /* what runs goes on, but nothing comes from the API server, and nothing gets there */
    bool from_beginning;     /* it was up before the world began */
    int boots;
    char boot_id[40];
    struct sim_event boot_event, node_event, capacity_event, heartbeat_event, agent_event;
    struct pod_box **pods;
    size_t pod_count, pod_cap;
    struct map images;       /* that are on its disk; keys owned */
    bool handler;            /* its runtime has the handler nvidia: on disk */
    /* the driver */
    char *module;            /* the loaded module's version; NULL: none */
    char *digest;            /* what /run/nvidia/nvidia-driver.state says; NULL: it is not there */
    bool pid_file;           /* a driver container has loaded it */
    size_t users;            /* containers that hold the module */
    char *driver_sign, *driver_sign_pod;      /* the driver's sign: digest and pod of this boot; NULL: none */
    char *toolkit_sign, *toolkit_sign_driver; /* the toolkit's: revision and the driver's digest */
    char *half_done;         /* a driver that works after another boot … */
    int half_done_boots;     /* … and how many boots there were when it was tried */
    /* its agent */
    const json_t *agent_says; /* what it says over what it sees, as a merge patch; NULL: nothing. Borrowed */
    bool agent_silent;
    /* devices */
    int gpus;                /* that are on its bus */
    int64_t devices;         /* that the plugin has registered */
    bool plugged;            /* a plugin was there once: the keys stay in the node's status for ever */
    int64_t capacity;        /* what the node's status says */
    char *plugin;            /* uid of the pod whose plugin it is, "host"; NULL: none */
    char *words;             /* what the last proof there said; NULL: there was none */
    uint64_t modules_unloaded, unloads_under_use;
};

/* The kubelets of all machines. */
struct kubelet {
    struct actors *a;
    struct rng rng;
    struct agenda pods;      /* pods that have news: "<uid> namespace/name", since one of the same name may follow */
    struct agenda nodes;     /* names of Node objects that have news */
    struct map machines;     /* by name */
    int machines_made;
    struct map boxes;        /* pod boxes by uid */
};

/* A delay drawn with the kubelets' own chance, in ms. */
int64_t kubelet_draw(struct kubelet *k, struct spec_delay delay);
/* The pod is looked at soon. */
void kubelet_note(struct kubelet *k, const json_t *pod);

/* ---- machine.c */
struct machine *machine_new(struct kubelet *k, const char *name, const struct spec_shape *shape, const json_t *labels);
/* Frees it with all that runs on it. */
void machine_free(struct machine *m);
/* Power: what ran is gone, and so is what was in memory. */
void machine_off(struct machine *m);
/* Nobody hears of it, while what runs goes on; and the way is free again. A boot frees it, too. */
void machine_cut_off(struct machine *m);
void machine_rejoin(struct machine *m);
/* Whether its kubelet has a word with the API server. */
bool machine_talks(const struct machine *m);
/* Boots; the kubelet speaks when that is over. `at_once`: it was up before the world began. */
void machine_on(struct machine *m, bool at_once);
/* So many GPUs are on its bus from now on; its plugin, where one is there, offers as many. */
void machine_set_gpus(struct machine *m, int gpus);
/* Whoever waits for something of this machine looks again. */
void machine_changed(struct machine *m);
/* Whether an image is on its disk. */
bool machine_has_image(const struct machine *m, const char *image);
/* An image is on its disk from now on. */
void machine_add_image(struct machine *m, const char *image);

/* ---- kubelet_node.c */
/* Registers the Node, or says that the kubelet of this boot is ready. `at_once`: a new Node is ready from the beginning. */
void node_register(struct machine *m, bool at_once);
/* Writes what has changed of devices, after a while. */
void node_note_devices(struct machine *m);
/* The kubelet says what it is like: Ready, with this boot's id. Nothing happens where there is no Node. */
void node_post_ready(struct machine *m);

/* ---- kubelet_pod.c */
/* A pod that a machine has from now on; nothing of it runs yet. Owned by the machine. */
struct pod_box *pod_box_new(struct machine *m, json_t *object);
/* Frees it with its containers. */
void pod_box_free(struct pod_box *p);
/* Looks at the object anew, goes on with what is next. */
void pod_box_sync(struct pod_box *p, json_t *object);
/* Goes on with what is next of it. */
void pod_box_advance(struct pod_box *p);
/* The machine has lost all that ran; as it will be told when the kubelet is back. */
void pod_box_lose(struct pod_box *p);
/* The machine is back: begins anew. */
void pod_box_begin_anew(struct pod_box *p);

/* ---- kubelet_container.c */
/* Its turn has come: the image is pulled where it is not there, then it starts. */
void box_begin(struct box *b);
/* Asks it to end; at the pod's kill time it is killed. */
void box_stop(struct box *b);
/* Ends it at once, unless nothing can. */
void box_kill(struct box *b);
/* It ends by itself now. */
void box_end(struct box *b, int code, const char *message);
/* It is gone without a word, as in a power failure. */
void box_lose(struct box *b);
/* Frees what it owns. */
void box_clear(struct box *b);
/* Whether it runs. */
bool box_is_alive(const struct box *b);
/* A waiting container may go on. */
void box_let_go(struct box *b);

/* ---- kubelet_status.c */
/* Writes the pod's status when it differs from what the API server has. */
void pod_write_status(struct pod_box *p);
/* The same soon, so that what happens together is written together. */
void pod_note_status(struct pod_box *p);
/* Like pod_write_status() for the last time: its phase is final. */
void pod_write_end(struct pod_box *p);

/* ---- node_agent.c */
/* What the agent's container does: it is ready at once, and looks. */
struct run agent_run(struct box *b);
void agent_step(struct box *b);
/* Something on the machine is otherwise: where its agent is up, that looks. */
void agent_note(struct machine *m);
/* As actors_agent_says(), actors_agent_silent() and actors_agent_restart() have it. */
void agent_tell(struct machine *m, const json_t *patch);
void agent_silence(struct machine *m);
void agent_restart(struct machine *m);
/* How many GPUs it says it sees. */
int agent_sees(const struct machine *m);

/* ---- driver.c */
/* Whether the container is the node's agent. */
bool operand_is_agent(const struct box *b);
/* Whether the container is a device plugin of somebody else. */
bool operand_is_foreign_plugin(const struct box *b);
/* What an operand's container does; false when it is none. */
bool operand_run(struct box *b, struct run *ret);
/* Whether a container that waits may end well now; false for what is no operand. */
bool operand_may_go(const struct box *b);
/* Its time for a step of its own (run.step_ms) has come. */
void operand_step(struct box *b);
/* It has become ready. */
void operand_ready(struct box *b);
/* What it does when it is asked to end: may change b->run.stop_ms and stop_code. */
void operand_stopping(struct box *b);
/* It has ended, however. */
void operand_ended(struct box *b);
/* Whether the container holds the kernel module while it runs. */
bool operand_holds_module(const struct box *b);
/* A fresh boot: the host's own driver loads its module. */
void driver_boot(struct machine *m);
/* Whether the driver that is loaded works with the machine's GPUs. */
bool driver_finds_gpus(const struct machine *m);

/* ---- device_plugin.c */
/* What a device plugin's container does: it registers the machine's GPUs with the kubelet until it ends. */
struct run device_plugin_run(struct box *b);
void device_plugin_step(struct box *b);
void device_plugin_ended(struct box *b);
/* A fresh boot: a plugin that the host brings registers them, where its driver is the host's. */
void device_plugin_boot(struct machine *m);

/* How many devices of that name a pod's containers ask for. */
int64_t pod_devices(const json_t *pod, const char *resource);
/* The resource under which a machine's GPUs are given. */
const char *machine_resource(const struct machine *m);
/* So many of a resource that its plugin registers, where that has registered `gpus` of the first one. */
int64_t machine_gives(const struct machine *m, const char *resource, int64_t gpus);

#endif
