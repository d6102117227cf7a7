/* The state of an API server; only for the files of this folder. */
#ifndef OSTLER_SIM_API_STATE_H
#define OSTLER_SIM_API_STATE_H

#include "base/buf.h"
#include "sim/api/api.h"
#include "sim/api/store.h"

/* Room for any answer: the content of the store bounds it. */
enum { API_TEXT_MAX = 1 << 30 };

/* Recent texts of objects and their parts: the answer to a write and all watches send the same
 * bytes. A power of two. */
enum { API_TEXTS = 1024 };

struct api_listener {
    api_commit_fn *fn;
    void *arg;
};

struct api_text {
    json_t *value; /* NULL: free */
    char *bytes;
    size_t len;
};

/* The version at a call of api_forget_older(). */
struct api_mark {
    int64_t at_ms;
    uint64_t rv;
};

/* In so many steps a time for which history is kept passes. */
enum { API_MARKS = 4 };

struct api {
    struct clock clock;
    struct store store;
    const struct access *access;
    const char *minor; /* the minor version at /version; static text; NULL: API_MINOR */
    struct custom_schemas *schemas;
    bool shares_schemas; /* another owner frees them */
    struct api_listener *listeners;
    size_t listener_count;
    struct api_text texts[API_TEXTS];
    struct buf frame;                 /* the last frame of any watch */
    struct api_mark marks[API_MARKS]; /* a ring */
    size_t newest_mark;
};

/* Commits a write and tells the listeners. */
void api_announce(struct api *api, const struct store_write *w, json_t *after_steal);
/* The same, and removes deleted containers that are now empty. */
void api_publish(struct api *api, const struct store_write *w, json_t *after_steal);
/* The last state of an object, with the version of its deletion. New reference. */
json_t *api_last_state(const json_t *object, uint64_t rv);
/* The time as metav1.Time. */
void api_now(const struct api *api, char ret[static CLOCK_TEXT_MAX]);

#endif
