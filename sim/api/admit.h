/* Admission: what the server checks and fills in before a write reaches the store, for all verbs.
 */
#ifndef OSTLER_SIM_API_ADMIT_H
#define OSTLER_SIM_API_ADMIT_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/store.h"
#include "sim/api/write.h"

/* One write in progress. */
struct admission {
    struct api *api;
    const struct write *w;
    const struct kind *kind; /* the stored kind */
    const char *name;        /* of the object, once it is settled */
    const char *said;        /* the name in refusals: generateName while the name is not made */
    json_t *before;          /* owned; NULL at a create */
    json_t *after;           /* owned; its top level and its metadata are not shared */
    bool applied;            /* an apply has set its managedFields */
};

/* Starts a write to an existing object; -1 and 404 if it does not exist. */
int admission_begin(struct admission *a, struct api *api, const struct write *w, struct refusal *r);
/* Frees what it owns. */
void admission_clear(struct admission *a);
#define CLEANUP_ADMISSION CLEANUP(admission_clear)

/* Reads the wanted object, given in the view of the write's kind, and completes it by the rules of
 * its kind; -1 and a refusal if it is invalid. */
int admission_take(struct admission *a, const json_t *object, struct refusal *r);
/* The commit that this write makes. */
struct store_write admission_store_write(const struct admission *a);
/* Makes it: `after_steal` NULL removes the object. */
void admission_publish(const struct admission *a, json_t *after_steal);
/* The existing object in the view of the write's kind. New reference. */
json_t *admission_view(const struct admission *a);

/* 400 unless the object has the name of the request. */
int admission_check_name(const struct write *w, const char *name, struct refusal *r);

/* Checks, completes and commits. `ret` (may be NULL) as with write_create(). */
int admission_create(struct admission *a, json_t **ret, struct refusal *r);
/* The same for a write to an existing object: an update, a patch, an apply. */
int admission_update(struct admission *a, json_t **ret, struct refusal *r);

#endif
