/* The kernel's list of modules (proc/modules), what driver calls itself NVIDIA's (proc/driver/nvidia/version), and the numbers of
 * its devices (proc/devices): the three texts, parsed. */
#ifndef OSTLER_NODE_INVENTORY_MODULES_H
#define OSTLER_NODE_INVENTORY_MODULES_H

#include "base/vendor.h"
#include "node/inventory/text.h"

/* One line of the list; parts of it. */
struct module_line {
    struct part name;
    int64_t references;  /* -1: the kernel does not count them */
    struct part users;   /* "nvidia_uvm,nvidia_modeset,", or "-" */
    bool loading;        /* it is on its way in or out, and works not yet or no more */
    struct part taints;  /* "POE"; of length 0: none */
};

/* The next line that is one; false at the end. */
bool modules_next(struct part *text, struct module_line *ret);
/* How many modules are among its users. */
int64_t module_user_count(const struct module_line *m);
/* The next name among users, from a copy of `users`; false at the end. */
bool module_next_user(struct part *users, struct part *name);

enum driver_flavour { FLAVOUR_UNKNOWN, FLAVOUR_OPEN, FLAVOUR_PROPRIETARY };

struct driver_version {
    enum driver_flavour flavour;
    struct part version; /* "580.178.04"; of length 0: it does not say */
};

/* False when it is not what NVIDIA's driver says of itself. */
bool driver_version_parse(struct part text, struct driver_version *ret);

/* NVIDIA's modules have some ten names for their character devices, several of one number. */
enum { DRIVER_MAJORS_MAX = 16 };

struct driver_majors {
    int items[DRIVER_MAJORS_MAX];
    size_t len;
};

/* The numbers that character devices of a vendor's driver have there, each once, as many as fit. */
void driver_majors_parse(struct part text, const struct vendor *vendor,
                         struct driver_majors *ret);
bool driver_majors_has(const struct driver_majors *m, int major);

#endif
