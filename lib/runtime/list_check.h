/* A list that is looked through as its bytes come: whatever pods a node has, and however long they are, one at a time is in
 * memory. */
#ifndef OSTLER_RUNTIME_LIST_CHECK_H
#define OSTLER_RUNTIME_LIST_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/split.h"

struct list_check;

/* Takes an object of a list of version `list_rv`; whether it was news. */
typedef bool list_check_fn(void *arg, const json_t *object, uint64_t list_rv);

/* A look that has seen nothing. `view`: what of its objects is looked at (NULL: all). Owned by the caller. */
struct list_check *list_check_new(const struct split_view *view, list_check_fn *seen, void *arg);
/* Takes the next bytes, cut anywhere. -1: they are no list, one of its objects is too long, or it does not say its version before
 * its items, as each list of the API does (ListMeta comes first); list_check_end() says which. */
int list_check_feed(struct list_check *l, const char *bytes, size_t n);
/* The list is over: sets the error of what was wrong with it, or ERR_CONFLICT where it had news. */
void list_check_end(struct list_check *l, struct err *e);
/* Frees it; NULL is nothing. */
void list_check_free(struct list_check *l);

#endif
