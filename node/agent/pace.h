/* Decides when the agent scans next, and whether the result is worth a request. Pure. At rest the
 * agent scans every few minutes and sends nothing. It reports a change at once, fewer users at once
 * up to PACE_LEAVERS times, and other changes of holders, and higher counts of known faults, at
 * most once a minute. It scans every few seconds while Ostler waits for the node's GPUs to be free.
 * Delays after refusals grow. Hashes of node names spread the scans of nodes that start, or are
 * refused, together. */
#ifndef OSTLER_NODE_AGENT_PACE_H
#define OSTLER_NODE_AGENT_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACE_START_MS = 10 * 1000,    /* the first scan starts within this time */
    PACE_LOOK_MS = 5 * 60 * 1000, /* between scans at rest, ±10 % */
    /* one of this many quiet scans asks the server, which may have lost or changed the report */
    PACE_ASK_LOOKS = 6,
    PACE_AGAIN_MS = 20 * 1000, /* to the next scan while GPUs seem to be gone */
    /* between writes if only holders, or counts of known faults, have changed */
    PACE_HOLDERS_MS = 60 * 1000,
    /* this many writes go out at once if holders leave; one more is allowed each minute */
    PACE_LEAVERS = 4,
    /* between looks at the kernel log and at the bus; a lost GPU closes its node within 10 s */
    PACE_WATCH_MS = 8 * 1000,
    /* replaces PACE_HOLDERS_MS and PACE_LOOK_MS while Ostler waits for the GPUs to be free */
    PACE_CLOSED_MS = 10 * 1000,
    PACE_SETTLE_MS = 1000, /* wait after the first hint of a change, because hints come in groups */
    PACE_GAP_MS = 5 * 1000,            /* least time between scans */
    PACE_RETRY_MS = 1000,              /* after the first failure; doubles with each failure … */
    PACE_RETRY_MAX_MS = 5 * 60 * 1000, /* … up to this */
};

/* Hashes by which inventories are compared. */
struct inventory_hash {
    uint64_t all;
    uint64_t lasting; /* without the holders and the counts of faults */
    uint64_t users;   /* number of users */
    uint64_t counts;  /* sum of the counts of faults */
};

/* The result of a scan. */
enum turn_end {
    TURN_QUIET,  /* no change */
    TURN_LATER,  /* only holders or counts changed: too early to report */
    TURN_SAID,   /* the server has the new inventory */
    TURN_FAILED, /* the request failed, or the scan did not finish */
};

/* What the scan process returns; plain data, because it crosses a process boundary. */
struct scan_outcome {
    enum turn_end end;
    struct inventory_hash hash;
    bool wrote;
    bool closed;            /* Ostler waits for the node's GPUs to be free */
    bool gone;              /* GPUs seem to be gone, but too few scans confirm it */
    int64_t retry_after_ms; /* for TURN_FAILED; -1: not given */
};

/* The state kept between scans. */
struct pace {
    uint64_t name_hash;
    bool said; /* the server has the inventory with this hash: */
    struct inventory_hash hash;
    int64_t wrote_ms;
    int64_t leavers_ms;   /* end of the budget that writes of holders use up, one minute each */
    int64_t looked_ms;    /* end of the last scan */
    int64_t next_ms;      /* start of the next scan */
    bool closed;          /* at the last request, Ostler waited for the GPUs to be free */
    bool patient;         /* hints of a change do not bring the next scan forward */
    unsigned quiet_looks; /* since the last request */
    unsigned failures;    /* consecutive */
    unsigned looks;
};

void pace_init(struct pace *p, const char *node, int64_t now_ms);
/* TURN_QUIET or TURN_LATER: send nothing. TURN_SAID: send the inventory. */
enum turn_end pace_verdict(const struct pace *p, const struct inventory_hash *seen, int64_t now_ms);
/* Takes the outcome of a scan. */
void pace_take(struct pace *p, const struct scan_outcome *o, int64_t now_ms);
/* Takes a hint that the machine has changed. */
void pace_news(struct pace *p, int64_t now_ms);

#endif
