/* Cases of the report about a node: what is known of the node, and what Ostler writes of it.
 *
 *     struct gpu_node_scene s;
 *     gpu_node_scene_init(&s, &(struct gpu_node_case){ .state = NODE_READY });
 *     gpu_node_plan(&s.in, &s.arena, &s.actions);
 *     gpu_node_scene_clear(&s); */
#ifndef OSTLER_TESTS_SUPPORT_GPU_NODE_CASE_H
#define OSTLER_TESTS_SUPPORT_GPU_NODE_CASE_H

#include "reconcilers/decide/gpu_node.h"

/* Now, and when the texts of the cases say that something was so. */
#define NOW "2026-11-21T10:00:00Z"
#define BEFORE "2026-11-21T09:00:00Z"

/* The requests, one a line. */
#define APPLY "PATCH /apis/ostler.dev/v1alpha1/gpunodes/a?fieldManager=ostler&force=true\n"
#define STATUS "PATCH /apis/ostler.dev/v1alpha1/gpunodes/a/status?fieldManager=ostler&force=true\n"
#define CONDITION "PATCH /api/v1/nodes/a/status?fieldManager=ostler\n"

/* Members of a status: of each node that carries something, and of a node that is in service. */
#define TIERS                                                                                      \
    "'driver':{'version':'580','revision':'d1','target':'d2'},"                                    \
    "'stack':{'version':'1.18','revision':'s1','target':'s1'}"
#define SAYS_READY(since)                                                                          \
    "'state':'Ready','reason':'OperandsUp','message':'every operand of the node is up',"           \
    "'since':'" since "'," TIERS
/* Members of the condition of a node that is in service. */
#define IS_READY "'status':'True','reason':'OperandsUp','message':'every operand of the node is up'"

/* A pod that has one GPU; `more` are members of its metadata. */
#define GPU_POD(name, more)                                                                        \
    "{'metadata':{'name':'" name "','namespace':'ml'" more                                         \
    "},'spec':{'nodeName':'a','containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}"

/* A node, what its report says, and what its last pass came to; and what is expected. */
struct gpu_node_case {
    const char *name;
    const char *report;    /* status of the GpuNode; NULL: there is none */
    const char *condition; /* members of the condition besides type; NULL: there is none */
    const char *healthy;   /* the same of GpuHealthy */
    const char *node;      /* members of the Node's metadata besides name and uid */
    const char *owner;     /* uid in the report; NULL: the node's */
    const char *pods;      /* on the node */
    enum node_state state;
    const char *reason, *message, *pod;
    const char *next;    /* what follows the phase of its claim, which ends at the end of time */
    const char *trouble; /* why a pod does not come up on a node that is on its way */
    int told_ms;
    bool no_crd, gone;
    bool managing;       /* a policy is there, and stays */
    bool agent;          /* its agent is up */
    const char *refused; /* the eviction that was refused */
    const char *holders; /* of its inventory */
    enum rollout_hold hold;
    int gpus;
    const char *product;
    const struct log_tail *words;
    const char *failed;  /* that the policy asks for */
    const char *failure; /* NULL: on gpu-1 with NoAllocatableGpus */
    const char *runs;    /* in place of that */
    bool gpu;            /* a GPU was found */
    bool off;            /* the node carries nothing, and is to run nothing */
    const char *requests;
    const char *status; /* that is written; NULL: none */
    const char *said;   /* the condition that is written; NULL: none */
    int again_ms;
};

/* A case as the objects that it stands for, and what the report is made from. */
struct gpu_node_scene {
    struct intern *strings;
    struct node *node;
    struct pod *pods;
    struct gpu_node *report;
    struct node_holders *holders;
    struct tally tally;
    struct node_summary summary;
    struct gpu_node_input in;
    struct arena arena;
    struct actions actions; /* empty */
};

/* Makes the objects; the case is borrowed until gpu_node_scene_clear(). */
void gpu_node_scene_init(struct gpu_node_scene *s, const struct gpu_node_case *c);
/* Frees them. A string that is still in use afterwards fails the test. */
void gpu_node_scene_clear(struct gpu_node_scene *s);
/* The body of the action with this verb; NULL: there is none. New reference. */
json_t *gpu_node_scene_body(const struct gpu_node_scene *s, enum verb verb);
/* Fails the test unless Ostler writes what the case says, and nothing else. */
void gpu_node_case_check(const struct gpu_node_case *c);

#endif
