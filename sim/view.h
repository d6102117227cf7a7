/* What a person sees of the simulated cluster: a picture that is drawn again and again on a terminal, lines elsewhere. It reads
 * the API server's objects and nothing else, as a person with kubectl would. */
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
    bool picture;     /* ANSI escapes; otherwise lines */
    const char *head; /* first line of the picture; borrowed */
    const char *door; /* below it, how somebody comes in: never cut, whatever the size; borrowed */
};

/* Listens to the API from now on. */
struct view *view_new(const struct view_options *o);
/* Frees it, after the API has brought its last commit. NULL is none. */
void view_free(struct view *v);
/* Somebody does something now: a line, and a note in the picture. */
void view_say(struct view *v, const char *text);
/* Appends what there is to say: the whole picture, in so many columns and rows, or the lines about what changed since the last
 * call. */
void view_show(struct view *v, int columns, int rows, struct buf *out);

#endif
