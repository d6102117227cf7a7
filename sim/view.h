/* Shows the simulated cluster to users: a picture that is redrawn on a terminal, lines elsewhere.
 * It reads only API objects, like a user with kubectl. */
#ifndef OSTLER_SIM_VIEW_H
#define OSTLER_SIM_VIEW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/clock.h"
#include "sim/api/api.h"

struct view;

struct view_options {
    struct api *api;
    const struct clock *clock; /* virtual */
    bool picture;              /* ANSI escapes; otherwise lines */
    const char *head;          /* first line of the picture; borrowed */
    const char *door;          /* below it, how to connect: never cut; borrowed */
};

/* Subscribes to commits of the API. */
struct view *sim_view_new(const struct view_options *o);
/* Frees it; the API must make no more commits. NULL is allowed. */
void sim_view_free(struct view *v);
/* Shows an action of a user as a line and in the picture. */
void sim_view_report(struct view *v, const char *text);
/* Appends the whole picture for this screen size, or the lines about changes since the last
 * call. */
void sim_view_show(struct view *v, int columns, int rows, struct buf *out);

#endif
