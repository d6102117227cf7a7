/* A list that is looked through as its bytes come: whatever pods a node has, and however long they are, one at a time is in
 * memory. */
#ifndef OSTLER_RUNTIME_LOOK_H
#define OSTLER_RUNTIME_LOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/split.h"

struct look;

/* Takes an object of a list of version `list_rv`; whether it was news. */
typedef bool look_seen_fn(void *arg, const json_t *object, uint64_t list_rv);

/* A look that has seen nothing. `view`: what of its objects is looked at (NULL: all). Owned by the caller. */
struct look *look_new(const struct split_view *view, look_seen_fn *seen, void *arg);
/* Takes the next bytes, cut anywhere. -1: they are no list, one of its objects is too long, or it does not say its version before
 * its items, as each list of the API does (ListMeta comes first); look_end() says which. */
int look_feed(struct look *l, const char *bytes, size_t n);
/* The list is over: sets the error of what was wrong with it, or ERR_CONFLICT where it had news. */
void look_end(struct look *l, struct err *e);
/* Frees it; NULL is nothing. */
void look_free(struct look *l);

#endif
