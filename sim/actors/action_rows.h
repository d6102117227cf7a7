/* The types of actions in a simulated world, one row each. */
#ifndef OSTLER_SIM_ACTORS_ACTION_ROWS_H
#define OSTLER_SIM_ACTORS_ACTION_ROWS_H

/* Required members of an action, as bits. */
enum spec_need {
    NEED_NAME = 1,      /* a name */
    NEED_KIND = 2,      /* a kind */
    NEED_NODE = 4,      /* the name is a node's */
    NEED_BODY = 8,      /* a body */
    NEED_MANIFEST = 16, /* the body is a whole object */
    NEED_TAINT = 32,    /* the body is a taint */
    NEED_EFFECT = 64,   /* the taint has an effect */
    NEED_SHAPE = 128,   /* a shape, and a name that need not exist */
    NEED_PAIRS = 256,   /* the body has texts, and null for removals */
    NEED_FAULT = 512,   /* the body is a fault of a GPU */
    NEED_OBJECT = NEED_KIND | NEED_NAME,
    NEED_MARKS = NEED_OBJECT | NEED_BODY | NEED_PAIRS,
};

/* The forms of a description. */
enum spec_form {
    FORM_MANIFEST, /* a user, and the object in the body */
    FORM_OBJECT,   /* a user, and an object */
    FORM_PAIRS,    /* a user, an object, and keys with values */
    FORM_TAINT,    /* a user, an object, and a taint */
    FORM_ITSELF,   /* the named object alone */
};

/* id, name in a scenario, required members, form and verb of its description. A machine is named
 * as its node is.
 *
 * Apply is a server-side apply with force. The bodies of Edit, EditStatus and AgentSays are merge
 * patches. Evict and Crash name a pod; the body of Crash is {exitCode, message}, or NULL. Taint
 * replaces a taint of the same key and effect; Untaint without an effect removes all of that key.
 * NodeCutOff cuts a node off from the network, while its containers go on; NodeRemove removes the
 * Node object and the machine. GpusOut takes GPUs off the bus. After AgentSays the agent reports
 * something else than it finds ({}: no difference); after AgentSilent it runs and reports nothing,
 * until AgentSays. KubeletRestart leaves containers alone, and registers a deleted Node again. The
 * body of GpuFault is a fault; GpuReset and GpuReplace concern the GPU in the body, or all. The
 * random faults of the world come between FaultsBegin and FaultsEnd. */
#define SPEC_ACTIONS(X)                                                                            \
    X(CREATE, "Create", NEED_BODY | NEED_MANIFEST, MANIFEST, "creates")                            \
    X(APPLY, "Apply", NEED_BODY | NEED_MANIFEST, MANIFEST, "applies")                              \
    X(EDIT, "Edit", NEED_OBJECT | NEED_BODY, OBJECT, "edits")                                      \
    X(DELETE, "Delete", NEED_OBJECT, OBJECT, "deletes")                                            \
    X(EVICT, "Evict", NEED_NAME, OBJECT, "evicts")                                                 \
    X(CORDON, "Cordon", NEED_NODE, OBJECT, "cordons")                                              \
    X(UNCORDON, "Uncordon", NEED_NODE, OBJECT, "uncordons")                                        \
    X(LABEL, "Label", NEED_MARKS, PAIRS, "labels")                                                 \
    X(ANNOTATE, "Annotate", NEED_MARKS, PAIRS, "annotates")                                        \
    X(TAINT, "Taint", NEED_NODE | NEED_BODY | NEED_TAINT | NEED_EFFECT, TAINT, "taints")           \
    X(UNTAINT, "Untaint", NEED_NODE | NEED_BODY | NEED_TAINT, TAINT, "untaints")                   \
    X(REBOOT, "Reboot", NEED_NODE, ITSELF, "reboots")                                              \
    X(NODE_DOWN, "NodeDown", NEED_NODE, ITSELF, "goes down")                                       \
    X(NODE_UP, "NodeUp", NEED_NODE, ITSELF, "is switched on")                                      \
    X(NODE_CUT_OFF, "NodeCutOff", NEED_NODE, ITSELF, "is cut off")                                 \
    X(NODE_REJOIN, "NodeRejoin", NEED_NODE, ITSELF, "reconnects")                                  \
    X(NODE_ADD, "NodeAdd", NEED_NAME | NEED_SHAPE, ITSELF, "is added")                             \
    X(NODE_REMOVE, "NodeRemove", NEED_NODE, ITSELF, "is removed")                                  \
    X(CRASH, "Crash", NEED_NAME, ITSELF, "crashes")                                                \
    X(LABELLER_RESTART, "LabellerRestart", 0, ITSELF, "restarts")                                  \
    X(EDIT_STATUS, "EditStatus", NEED_OBJECT | NEED_BODY, OBJECT, "edits the status of")           \
    X(GPUS_OUT, "GpusOut", NEED_NODE, ITSELF, "loses its GPUs")                                    \
    X(GPUS_IN, "GpusIn", NEED_NODE, ITSELF, "gets its GPUs back")                                  \
    X(AGENT_SAYS, "AgentSays", NEED_NODE | NEED_BODY, ITSELF,                                      \
      "has an agent that reports scripted values")                                                 \
    X(AGENT_SILENT, "AgentSilent", NEED_NODE, ITSELF, "has an agent that stops reporting")         \
    X(AGENT_RESTART, "AgentRestart", NEED_NODE, ITSELF, "has an agent that restarts")              \
    X(KUBELET_RESTART, "KubeletRestart", NEED_NODE, ITSELF, "has a kubelet that restarts")         \
    X(GPU_FAULT, "GpuFault", NEED_NODE | NEED_BODY | NEED_FAULT, ITSELF,                           \
      "has a GPU that gets a fault")                                                               \
    X(GPU_RESET, "GpuReset", NEED_NODE, ITSELF, "has a GPU that is reset")                         \
    X(GPU_REPLACE, "GpuReplace", NEED_NODE, ITSELF, "has a GPU that is replaced")                  \
    X(FAULTS_BEGIN, "FaultsBegin", 0, ITSELF, "begin")                                             \
    X(FAULTS_END, "FaultsEnd", 0, ITSELF, "end")

enum spec_verb {
#define X(id, ...) SPEC_##id,
    SPEC_ACTIONS(X)
#undef X
        SPEC_VERB_COUNT
};

#endif
