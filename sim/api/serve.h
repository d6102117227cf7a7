/* One HTTP request on its way through the API server; for the files that serve them. */
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
    enum table_form table; /* whether the client wants a Table of text rather than objects */
    struct api_answer *answer;
    struct refusal refusal;
};

/* Each answers, or fills in the refusal and returns -1. */
typedef int serve_fn(struct serving *s);

serve_fn serve_get, serve_list;
serve_fn serve_create, serve_update, serve_patch, serve_delete, serve_delete_collection,
    serve_eviction, serve_binding;
serve_fn serve_scale, serve_log;
/* The options of a deletion inside another body; NULL: none. 0, or -1 and 400 or 422. */
int serve_check_delete_options(const json_t *options, struct refusal *r);

/* Answers with an object, as it is stored or as a view shows it. Takes it. */
int serve_object(struct serving *s, int status, json_t *object_steal);
/* Answers with text that is JSON; empties the buffer. */
int serve_text(struct serving *s, int status, struct buf *text);
/* Answers with text for people. */
int serve_plain(struct serving *s, int status, const char *text);
/* Answers with a list. */
int serve_page(struct serving *s, const struct page *page);
/* Answers with any JSON. Takes it. */
int serve_json(struct serving *s, int status, json_t *value_steal);
/* 0, or -1 and 403, when this user may not use a verb on what the path names. */
int serve_authorize(struct serving *s, const char *verb);
/* The field manager of a request: the one that is given, else the program's name as its User-Agent
 * begins. Owned by the caller. */
char *serve_manager(const struct serving *s, const struct write_options *o);
/* A write to what the path names. */
struct write serve_write(const struct serving *s, enum api_verb verb, const char *manager,
                         const struct write_options *o);
/* The list options of a query and the filter that they make. */
int serve_filter(struct serving *s, struct list_options *ret, struct filter *ret_filter);

#endif
