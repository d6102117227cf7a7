/* The operands as pods on a node see them, and what else Ostler has there. */
#ifndef OSTLER_RECONCILERS_MODEL_COMPONENT_H
#define OSTLER_RECONCILERS_MODEL_COMPONENT_H

/* id, value of app.kubernetes.io/component, tier ("" = a follower) */
#define COMPONENTS(X)                                                                              \
    X(DRIVER, "driver", "driver")                                                                  \
    X(TOOLKIT, "toolkit", "stack")                                                                 \
    X(DEVICE_PLUGIN, "device-plugin", "stack")                                                     \
    X(EXPORTER, "exporter", "")

enum component {
#define X(id, ...) COMPONENT_##id,
    COMPONENTS(X)
#undef X
    COMPONENT_COUNT,
    COMPONENT_AGENT = COMPONENT_COUNT, /* the agent: no operand, since nothing that a GPU needs comes from it */
    COMPONENT_REMOVAL, /* takes what the toolkit configured out of the container runtime, where a node is let go of */
    COMPONENT_NONE,
};

/* "driver", "device-plugin", …; "" for COMPONENT_NONE. */
const char *component_name(enum component c);
/* "driver", "stack", or "" for a follower. */
const char *component_tier(enum component c);
/* The component of a label's value; COMPONENT_NONE for NULL and what is unknown. */
enum component component_parse(const char *name);

#endif
