/* The way of a write into the store: what the server checks and fills in, whichever verb it came
 * by. */
#ifndef OSTLER_SIM_API_ADMIT_H
#define OSTLER_SIM_API_ADMIT_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/write.h"

/* One write on its way. */
struct admission {
    struct api *api;
    const struct write *w;
    const struct kind *kind; /* as it is stored */
    const char *name;        /* of the object, once it is known */
    /* the name by which admission speaks of it: where one is made, it is only afterwards */
    const char *said;
    json_t *before; /* owned; NULL at a create */
    json_t *after;  /* owned; its top level and its metadata are shared with nobody */
    bool applied;   /* its managedFields are set */
};

/* Starts one on an object that is there; -1 and 404 when it is not. */
int admission_begin(struct admission *a, struct api *api, const struct write *w, struct refusal *r);
/* Frees what it owns. */
void admission_clear(struct admission *a);
#define CLEANUP_ADMISSION CLEANUP(admission_clear)

/* Takes an object as it came from outside (in the view of the write's kind) as what shall be, read
 * and completed by the rules of its kind; -1 and a refusal when it is something else. */
int admission_take(struct admission *a, const json_t *object, struct refusal *r);
/* The object that is there, in the view of the write's kind. New reference. */
json_t *admission_view(const struct admission *a);

/* 400 unless an object's name is that of the request. */
int admission_check_name(const struct write *w, const char *name, struct refusal *r);

/* Checks, completes and commits. `ret` (may be NULL) as with write_create(). */
int admission_create(struct admission *a, json_t **ret, struct refusal *r);
/* The same of a write to what is there: an update, a patch, an apply. */
int admission_update(struct admission *a, json_t **ret, struct refusal *r);

#endif
