/* When the agent looks next, and whether what it sees is worth a request. Pure. At rest it looks every few minutes and says
 * nothing; a change is told at once, and so is that holders leave, a few times; other holders at most once a minute. A refusal
 * is waited for longer each time. While Ostler waits for the node's GPUs to be let go of, it looks every few seconds.
 * Nodes of a cluster that start together, or are refused together, spread by the hash of their names. */
#ifndef OSTLER_NODE_AGENT_PACE_H
#define OSTLER_NODE_AGENT_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACE_START_MS = 10 * 1000,    /* the first look comes within this time */
    PACE_LOOK_MS = 5 * 60 * 1000, /* at rest, a tenth more or less */
    PACE_ASK_LOOKS = 6,           /* of so many looks one asks the server what it has, since that may be lost or changed there */
    PACE_AGAIN_MS = 20 * 1000,    /* to the next look while GPUs seem to be gone */
    PACE_HOLDERS_MS = 60 * 1000,  /* between writes where nothing else has changed */
    PACE_LEAVERS = 4,             /* so many of them are told at once where holders leave; one more each minute */
    PACE_CLOSED_MS = 10 * 1000,   /* the same, and to the next look, while Ostler waits for the GPUs to be let go of */
    PACE_SETTLE_MS = 1000,        /* news come in groups: so long the first of them is waited on */
    PACE_GAP_MS = 5 * 1000,       /* between looks, however many news there are */
    PACE_RETRY_MS = 1000,         /* after the first failure, then twice as long each time … */
    PACE_RETRY_MAX_MS = 5 * 60 * 1000, /* … up to this */
};

/* An inventory as it is compared. */
struct inventory_hash {
    uint64_t all;
    uint64_t lasting; /* without its holders */
    uint64_t users;   /* how many those are */
};

/* How a look ended. */
enum turn_end {
    TURN_QUIET,  /* nothing new */
    TURN_LATER,  /* other holders: too early to say so */
    TURN_SAID,   /* the server has what was seen */
    TURN_FAILED, /* it could not be said, or the look did not come to its end */
};

/* What is known of it; plain data, since it comes from another process. */
struct scan_outcome {
    enum turn_end end;
    struct inventory_hash hash;
    bool wrote;
    bool closed;            /* Ostler waits for the node's GPUs to be let go of */
    bool gone;              /* GPUs seem to be gone, and not often enough for it to count */
    int64_t retry_after_ms; /* of TURN_FAILED; -1: nobody says */
};

/* What is remembered from look to look. */
struct pace {
    uint64_t name_hash;
    bool said;              /* the server has something of us, and it is: */
    struct inventory_hash hash;
    int64_t wrote_ms;
    int64_t leavers_ms;     /* each write of holders alone counts for a minute, one after the other: until then */
    int64_t looked_ms;      /* when the last look ended */
    int64_t next_ms;        /* when the next one begins */
    bool closed;            /* when the server was last asked, Ostler waited for the GPUs to be let go of */
    bool patient;           /* and news do not bring it any earlier */
    unsigned quiet_looks;   /* since the server was asked */
    unsigned failures;      /* in a row */
    unsigned looks;
};

void pace_init(struct pace *p, const char *node, int64_t now_ms);
/* What to do about what was seen: TURN_QUIET or TURN_LATER for nothing, TURN_SAID for saying it. */
enum turn_end pace_verdict(const struct pace *p, const struct inventory_hash *seen, int64_t now_ms);
/* A look has ended. */
void pace_take(struct pace *p, const struct scan_outcome *o, int64_t now_ms);
/* Something has changed on the machine. */
void pace_news(struct pace *p, int64_t now_ms);

#endif
