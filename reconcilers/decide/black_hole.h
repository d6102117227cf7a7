/* Black holes: a node that fails every GPU pod at once attracts ever more of them, since its GPUs
 * are always free. The failures of pods on one node are remembered for a while, and whether others
 * worked meanwhile. If too many pods of different owners failed and none worked, the node must
 * prove again that a CUDA program runs there. Only if that fails, it is closed.
 *
 * All of this is in memory only, for nodes with such failures: a restart of Ostler forgets it. What
 * a failed proof led to is in the node's record (model/fault_record.h), which stays. */
#ifndef OSTLER_RECONCILERS_DECIDE_BLACK_HOLE_H
#define OSTLER_RECONCILERS_DECIDE_BLACK_HOLE_H

#include "base/arena.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/pod_failure.h"

enum {
    BLACK_HOLE_PODS = 3,       /* so many pods must have failed … */
    BLACK_HOLE_OWNERS = 2,     /* … of so many owners: one alone may run a broken program … */
    BLACK_HOLE_WINDOW_S = 600, /* … within this time */
    BLACK_HOLE_PROOF_S = 600,  /* the proof must have begun within this time, or is given up */
    BLACK_HOLE_REST_S = 3600,  /* until the next proof for this reason */
    BLACK_HOLE_KEPT = 8,       /* pods that are remembered */
};

/* A pod that began to run after another one had failed. */
struct black_hole_run {
    uint64_t pod; /* str_hash_id() of its uid */
    int64_t since_s;
};

/* What is remembered of one node. Zeros: nothing. */
struct black_hole {
    struct pod_failure failed[BLACK_HOLE_KEPT]; /* in no order; one for each pod */
    struct black_hole_run runs[BLACK_HOLE_KEPT];
    uint8_t failed_len, runs_len;
    bool proving;     /* a proof was asked for and has not passed yet */
    int64_t worked_s; /* up to then nothing is suspicious; 0: no pod worked, no proof passed */
    int64_t asked_s;  /* when a proof was last asked for; 0: never */
    int64_t proof_failed_s; /* since when that proof has failed; 0: it has not */
};

/* What a pass over the node did about it. */
enum black_hole_step {
    BLACK_HOLE_NOTHING,
    BLACK_HOLE_TOLD,   /* it is suspected, and Ostler may not act on it */
    BLACK_HOLE_ASKED,  /* the node's validation is void, and a proof will run */
    BLACK_HOLE_PASSED, /* the proof passed */
    BLACK_HOLE_FAILED, /* the proof failed */
};

/* Remembers a failure. If there are too many, the oldest one of the owner with the most goes: no
 * single owner can displace the others. */
void black_hole_failed(struct black_hole *h, const struct pod_failure *f, int64_t now_s);
/* A pod began to run. It counts if a failure is remembered and it has not failed itself. */
void black_hole_began(struct black_hole *h, uint64_t pod, int64_t now_s);
/* A pod is gone. It has worked if it began after a failure, has not failed and was not deleted. */
void black_hole_ended(struct black_hole *h, uint64_t pod, bool deleted, int64_t now_s);

/* Whether so many pods failed that a proof must run, and none runs. `h` may be NULL. */
bool black_hole_is_suspected(const struct black_hole *h, int64_t now_s);
/* Whether a proof that was asked for is awaited. The same. */
bool black_hole_is_proving(const struct black_hole *h, int64_t now_s);
/* "4 pods of 3 owners that request GPUs failed at once within 10 minutes, and none worked". From
 * the arena. */
const char *black_hole_text(const struct black_hole *h, int64_t now_s, struct arena *a);
/* Takes what a pass did. */
void black_hole_take(struct black_hole *h, enum black_hole_step step, int64_t now_s);
/* When the same memory may come to mean something else, epoch seconds; 0: it does not. */
int64_t black_hole_due_s(const struct black_hole *h, int64_t now_s);
/* Whether it may be forgotten. */
bool black_hole_is_over(const struct black_hole *h, int64_t now_s);

/* Since when a failed proof keeps the node closed, epoch seconds: by what is remembered (NULL:
 * nothing), or by the node's record, which outlives Ostler. 0: none does, or the node has passed a
 * proof of what it runs since. */
int64_t black_hole_proof_failed_s(const struct node_view *view, const struct black_hole *h);

#endif
