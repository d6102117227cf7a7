/* What a query asks for besides the object: metav1.ListOptions, CreateOptions, UpdateOptions and
 * PatchOptions, checked as the API server does. */
#ifndef OSTLER_SIM_API_OPTIONS_H
#define OSTLER_SIM_API_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/api/path.h"
#include "sim/api/refusal.h"

enum version_match { MATCH_UNSET, MATCH_EXACT, MATCH_NOT_OLDER };

/* Strings are borrowed from the path. */
struct list_options {
    const char *rv; /* "" = unset */
    enum version_match match;
    int64_t limit;            /* 0: none */
    const char *continuation; /* "" = none */
    bool watch;
    bool bookmarks;
    bool asks_initial;   /* sendInitialEvents is present, with any value */
    bool initial_events; /* a watch that begins with a list, and a bookmark at its end */
    int64_t timeout_s;   /* 0: none given */
};

struct write_options {
    const char *field_manager; /* "" = none given */
    bool dry_run;
    bool strict; /* fieldValidation=Strict */
    bool warn;   /* fieldValidation=Warn, which is the default */
    bool force;
};

/* -1 and 400 or 422 if they are invalid or contradict each other. */
int list_options_parse(const struct path *p, struct list_options *ret, struct refusal *r);
/* `kind` as in refusals: "CreateOptions", "UpdateOptions", "PatchOptions". */
int write_options_parse(const struct path *p, const char *kind, struct write_options *ret,
                        struct refusal *r);
/* Checks the options of a patch, which is a server-side apply or not. */
int write_options_check_patch(const struct path *p, const struct write_options *o, bool apply,
                              struct refusal *r);

#endif
