/* A viewer of the fleet page: the frames that the page would get, and what they cost. */
#ifndef OSTLER_TESTS_SCALE_VIEWER_H
#define OSTLER_TESTS_SCALE_VIEWER_H

#include "base/map.h"
#include "reconcilers/cluster.h"

/* Of one kind of event. */
struct viewer_frames {
    uint64_t frames, bytes, most; /* the most bytes in one */
};

/* Zero-initialised: nothing has changed yet. */
struct viewer {
    struct map names;  /* of nodes that have changed since the last frame */
    bool policy;       /* so has the policy */
    int64_t due_ms;    /* when the next frames are made; 0: nothing has changed */
    int64_t policy_ms; /* when the policy last had one */
    struct viewer_frames nodes, policies;
    uint64_t rows, counted; /* frames of the policy whose instructions were counted */
    char *last;             /* the last policy */
    uint64_t same;          /* frames with the policy of the frame before */
};

/* What the page shows of a node has changed; NULL: of the policy. `arg` is a viewer. */
void viewer_changed(void *arg, const char *name);
/* Makes frames, as often as the page does. Counts the instructions of some of those of
 * the policy. */
void viewer_look(struct viewer *v, const struct cluster *c, int64_t now_ms);
/* Prints what it got in so many milliseconds. */
void viewer_print(const struct viewer *v, int64_t took_ms);
/* Forgets all. */
void viewer_clear(struct viewer *v);

#endif
