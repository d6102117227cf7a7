#include "sim/api/read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/api/event_view.h"
#include "sim/api/state.h"

#define TOO_OLD_CONTINUE                                                                           \
    "The provided continue parameter is too old to display a consistent list result. You can "     \
    "start a new list without the "                                                                \
    "continue parameter, or use the continue token in this response to retrieve the remainder of " \
    "the results. Continuing "                                                                     \
    "with the provided token results in an inconsistent list - objects that were created, "        \
    "modified, or deleted between the "                                                            \
    "time the first chunk was returned and now may show up in the list."

/* Where a page begins. */
struct start {
    uint64_t rv;               /* 0: now */
    char after[STORE_KEY_MAX]; /* the last key of the page before; "" = the beginning */
};

int version_parse(const struct api *api, const char *text, uint64_t *ret, struct refusal *r)
{
    *ret = 0;
    if (!*text)
        return 0;
    int64_t rv;
    if (!str_parse_int(text, 0, INT64_MAX, &rv))
        return refuse(r, 400,
                      "invalid resource version: resourceVersion: Invalid value: \"%s\": "
                      "strconv.ParseUint: parsing \"%s\": "
                      "invalid syntax",
                      text, text);
    *ret = (uint64_t) rv;
    if (*ret <= api->store.rv)
        return 0;
    refuse(r, 504, "Timeout: Too large resource version: %s, current: %" PRIu64, text,
           api->store.rv);
    refuse_cause(r, "ResourceVersionTooLarge", NULL, "Too large resource version");
    r->retry_after_s = 1;
    return -1;
}

/* Tokens: "RV:KEY"; RV 0 continues with the current objects. In keys a URL must encode only "/" and
 * ":". */
static char *token_of(uint64_t rv, const char *key)
{
    return xasprintf("%" PRIu64 ":%s", rv, key);
}

static int parse_token(const char *token, struct start *ret, struct refusal *r)
{
    const char *colon = strchr(token, ':');
    CLEANUP_FREE char *number = xstrndup(token, colon ? (size_t) (colon - token) : 0);
    int64_t rv;
    if (!colon || !str_parse_int(number, 0, INT64_MAX, &rv) || strlen(colon) > sizeof ret->after)
        return refuse(r, 400, "invalid continue token: continue key is not valid: %s", token);
    ret->rv = (uint64_t) rv;
    strcpy(ret->after, colon + 1);
    return 0;
}

static int start_at_token(const struct api *api, const struct list_options *o, struct start *ret,
                          struct refusal *r)
{
    if (*o->rv && !str_eq(o->rv, "0"))
        return refuse(r, 400, "specifying resource version is not allowed when using continue");
    if (parse_token(o->continuation, ret, r) < 0)
        return -1;
    if (ret->rv == 0 || (ret->rv <= api->store.rv && store_knows_since(&api->store, ret->rv)))
        return 0;
    refuse(r, 410, "%s", TOO_OLD_CONTINUE);
    r->continuation = token_of(0, ret->after);
    return -1;
}

/* Where a list begins. With a limit, a resourceVersion without resourceVersionMatch means exactly
 * that version. */
static int find_start(const struct api *api, const struct list_options *o, struct start *ret,
                      struct refusal *r)
{
    *ret = (struct start){ 0 };
    if (*o->continuation)
        return start_at_token(api, o, ret, r);
    uint64_t rv;
    if (version_parse(api, o->rv, &rv, r) < 0)
        return -1;
    bool exact = rv > 0 && (o->match == MATCH_EXACT || (o->match == MATCH_UNSET && o->limit > 0));
    if (!exact)
        return 0;
    if (!store_knows_since(&api->store, rv))
        return refuse(r, 410, "The resourceVersion for the provided list is too old.");
    ret->rv = rv;
    return 0;
}

/* The place of the first object after a start. */
static size_t first_place(const struct kind_store *t, const struct start *start, const char *prefix)
{
    if (!*start->after)
        return kind_store_find(t, prefix);
    size_t place = kind_store_find(t, start->after);
    return place + (place < t->len && str_eq(t->entries[place]->key, start->after));
}

/* Fills a page with the objects after a start. */
static void read_fill(const struct kind_store *t, const struct start *start,
                      const struct list_options *o, const struct filter *f, struct page *ret)
{
    CLEANUP_FREE char *prefix = f->ns ? xasprintf("%s/", f->ns) : xstrdup("");
    /* A list from the server's cache ignores the limit. */
    size_t limit = o->limit > 0 && !str_eq(o->rv, "0") ? (size_t) o->limit : SIZE_MAX;
    for (size_t place = first_place(t, start, prefix);
         place < t->len && str_has_prefix(t->entries[place]->key, prefix); place++) {
        if (!filter_matches(f, t->entries[place]->object))
            continue;
        size_t len = json_array_size(ret->objects);
        if (len < limit) {
            json_array_append(ret->objects, t->entries[place]->object);
            continue;
        }
        if (len == limit && !ret->continuation)
            ret->continuation = token_of(ret->rv, t->entries[place - 1]->key);
        ret->remaining++;
        if (filter_selects(f))
            break;
    }
    if (filter_selects(f))
        ret->remaining = -1;
}

int page_read(struct api *api, const struct kind *k, const struct list_options *o,
              const struct filter *f, struct page *ret, struct refusal *r)
{
    struct start start;
    if (find_start(api, o, &start, r) < 0)
        return -1;
    const struct kind *stored = event_stored_kind(k);
    bool is_now = start.rv == 0 || start.rv == api->store.rv;
    bool same = is_now || !store_changed_since(&api->store, stored, start.rv);
    const struct kind_store *t = same ? store_of_kind(&api->store, stored)
                                      : store_at(&api->store, stored, start.rv);
    *ret = (struct page){ .objects = json_array(), .rv = is_now ? api->store.rv : start.rv };
    read_fill(t, &start, o, f, ret);
    return 0;
}

void page_clear(struct page *p)
{
    json_decref(p->objects);
    free(p->continuation);
    *p = (struct page){ 0 };
}
