/* Recognizes GPU faults in the lines that NVIDIA's driver writes to the kernel log: Xids of GPUs,
 * SXids of NVSwitches, and GPUs that do not answer when the driver starts. Pure.
 *
 * A message contains texts that a program chooses, and with them the beginning of further lines. So
 * only its first line counts; the driver writes no Xid and no SXid in another one. In that line, a
 * program chooses the name of its process. So only what comes before it counts: the address and the
 * number at the beginning. The two exceptions are longer than any process name: the recovery action
 * of Xid 154, and whether an NVLink fault is fatal. */
#ifndef OSTLER_NODE_INVENTORY_XID_LINE_H
#define OSTLER_NODE_INVENTORY_XID_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/gpu_recovery.h"
#include "node/inventory/text.h"

/* Xid of a GPU that has fallen off the bus. */
enum { XID_OFF_BUS = 79 };

/* A PCI address as the driver writes it. */
struct xid_place {
    uint32_t domain;
    uint8_t bus, device;
    int8_t function; /* -1: not given, as in every Xid */
};

enum xid_fatal { XID_FATAL_UNKNOWN, XID_NONFATAL, XID_FATAL };

struct xid_event {
    struct xid_place place;
    uint16_t xid;
    bool nvswitch;    /* it is an SXid */
    uint8_t fatal;    /* enum xid_fatal; for Xid 144 to 150 */
    uint8_t recovery; /* enum gpu_recovery; for Xid 154: the new action */
};

/* What a reader keeps between lines. Zero-initialized = nothing. */
struct xid_reader {
    bool is_silent; /* the message is about a GPU that may not answer: */
    struct xid_place silent;
};

/* Takes the next line of the kernel log, without its prefix. `continues`: it is a further line of
 * the message before it. True if it completes a fault. */
bool xid_line_take(struct xid_reader *r, struct part line, bool continues, struct xid_event *ret);

/* Whether a line can say this: only Xid 154 has a recovery action, and only 144 to 150 are fatal or
 * not. */
bool xid_event_is_possible(const struct xid_event *e);

#endif
