/* The GPU faults that the kernel log has had: one entry by GPU, number and boot, each with a count.
 * A log forgets its oldest lines; this list does not, as long as it has room. Plain data, because
 * it crosses a process boundary. */
#ifndef OSTLER_NODE_INVENTORY_FAULTS_H
#define OSTLER_NODE_INVENTORY_FAULTS_H

#include <jansson.h>

#include "node/inventory/os.h"
#include "node/inventory/pci.h"
#include "node/inventory/xid_line.h"

enum { FAULTS_MAX = 32 };

/* Reason in the place of an errno: the log has no time stamps, without which lines that the kernel
 * wrote and those of a program within a message cannot be told apart. */
enum { NO_STAMPS = -1 };

struct logged_fault {
    struct xid_event event;
    char boot[BOOT_ID_MAX + 1]; /* boot id of an earlier boot; "": this boot */
    uint32_t count;
    int64_t first_s, last_s; /* seconds since 1970 */
    /* count = max(said, known) + fresh */
    uint32_t said;  /* reported when the agent started */
    uint32_t known; /* lines that may be among those */
    uint32_t fresh; /* later lines */
    int64_t said_s; /* the last of those that were reported */
};

/* Where the reading of the log ended. */
struct log_place {
    bool any;         /* there was a line */
    uint64_t line;    /* hash of the last line */
    uint32_t seen;    /* lines with this hash up to there */
    int64_t stamp_us; /* of the last line */
};

/* Zero-initialized = nothing read. */
struct faults {
    struct logged_fault items[FAULTS_MAX]; /* by `last_s`; among equal ones, the newest last */
    size_t len;
    struct log_place place;
    int64_t read_s; /* when the log was last read; 0: never */
    int why;        /* errno of the last try to read it, or NO_STAMPS; 0: it was read */
    bool joined;    /* has what the GpuNode reported when the agent started */
};

/* The time of a reading. */
struct log_time {
    int64_t wall_us; /* since 1970 */
    int64_t boot_us; /* of the clock of the log's time stamps */
};

/* Adds a copy of an entry; if the list is full, one that is worth less makes room: of an earlier
 * boot, then mild ones (base/xid_mild.h), then the oldest. False: all others are worth more, or it
 * is there. */
bool faults_add(struct faults *f, const struct logged_fault *fault);
struct log_time log_time_now(void);
/* Takes the lines of a log that are new; each must have a time stamp. `whole`: `text` is all that
 * the log still has; otherwise, if it does not contain the last line that was read, nothing is
 * taken: false. *ret_news: a fault is new or has a higher count. */
bool faults_take(struct faults *f, struct part text, bool whole, struct log_time now,
                 bool *ret_news);
/* Reads the log and takes what is new; `file` as in kernel_log_read(). True: a fault is new or has
 * a higher count, or whether the log can be read has changed. */
bool faults_read(struct faults *f, const char *file, struct log_time now);
/* Starts anew from `faults` of a GpuNode (NULL: none): what it has of this boot is not counted
 * twice. Any client may have written them; wrong entries are left out. Then the whole log must be
 * read. */
void faults_join(struct faults *f, const json_t *said, const char *boot_id, int64_t now_s);
/* The JSON form of the GpuNode; devices of `bus` complete the addresses. NULL: the log was not
 * read, or the boot is not known. New reference. */
json_t *faults_json(const struct faults *f, const struct pci_bus *bus, const char *boot_id);
/* The full address of a fault's device: "0000:3b:00.0". */
void fault_address(const struct xid_event *event, const struct pci_bus *bus,
                   char ret[static PCI_ADDRESS_MAX]);

#endif
