/* Parses os-release, the file that names the operating system. */
#ifndef OSTLER_NODE_INVENTORY_OS_RELEASE_H
#define OSTLER_NODE_INVENTORY_OS_RELEASE_H

#include "node/inventory/text.h"

enum { OS_WORD_MAX = 63, OS_NAME_MAX = 127 };

/* Strings are from the arena; NULL: not given. */
struct os_release {
    const char *id;      /* ID: "ubuntu" */
    const char *version; /* VERSION_ID: "24.04" */
    const char *variant; /* VARIANT_ID: "coreos", "aws-k8s-1.32-nvidia" */
    const char *name;    /* PRETTY_NAME */
};

void os_release_parse(struct arena *a, struct part text, struct os_release *ret);

#endif
