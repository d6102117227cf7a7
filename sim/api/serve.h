/* One HTTP request in the API server; for the files that serve requests. */
#ifndef OSTLER_SIM_API_SERVE_H
#define OSTLER_SIM_API_SERVE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "sim/api/extras.h"
#include "sim/api/filter.h"
#include "sim/api/options.h"
#include "sim/api/path.h"
#include "sim/api/read.h"
#include "sim/api/write.h"

struct serving {
    struct api *api;
    const struct api_call *call;
    struct path path;
    const char *user;
    enum table_form table;        /* whether the client wants a Table of text rather than objects */
    struct write_options options; /* of a write, once serve_begin_write() has read them */
    char *manager;                /* its field manager; owned */
    struct api_answer *answer;
    struct refusal refusal;
};

/* Each answers, or fills in the refusal and returns -1. */
typedef int serve_fn(struct serving *s);

serve_fn serve_get, serve_list;
serve_fn serve_create, serve_update, serve_patch, serve_delete, serve_delete_collection,
    serve_eviction, serve_binding;
serve_fn serve_scale, serve_log;
/* Serves paths that are not of objects: /api, /apis and below (groups, versions, resources),
 * /openapi/…, /version, /healthz, /livez, /readyz. 1 if the path is none of these. It lists custom
 * kinds only while custom_is_served() says so. */
int discovery_serve(struct serving *s);
/* The options of a deletion inside another body; NULL: none. 0, or -1 and 400 or 422. */
int serve_check_delete_options(const json_t *options, struct refusal *r);

/* Answers with an object, stored or in a view. */
int serve_object(struct serving *s, int status, json_t *object_steal);
/* Answers with text that is JSON; empties the buffer. */
int serve_text(struct serving *s, int status, struct buf *text);
/* Answers with text for people. */
int serve_plain(struct serving *s, int status, const char *text);
/* Answers with a list. */
int serve_page(struct serving *s, const struct page *page);
/* Answers with any JSON. */
int serve_json(struct serving *s, int status, json_t *value_steal);
/* 0, or -1 and 403, when this user may not use a verb on what the path names. */
int serve_authorize(struct serving *s, const char *verb);
/* Reads the options of a write; `kind` as in write_options_parse(). The field manager is the given
 * one, otherwise the program's name, with which its User-Agent begins. */
int serve_begin_write(struct serving *s, const char *kind);
/* A write to what the path names. */
struct write serve_write(const struct serving *s, enum api_verb verb);
/* The list options of a query and the filter that they make. */
int serve_filter(struct serving *s, struct list_options *ret, struct filter *ret_filter);

#endif
