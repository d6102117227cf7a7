/* Checks a list object by object while its bytes arrive: memory holds one object at a time,
 * whatever the list's size. */
#ifndef OSTLER_RUNTIME_LIST_CHECK_H
#define OSTLER_RUNTIME_LIST_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/split.h"

struct list_check;

/* Takes an object of a list of version `list_rv`; returns whether it was news. */
typedef bool list_check_fn(void *arg, const json_t *object, uint64_t list_rv);

/* A check at its start. `view`: the part of objects to read (NULL: all). Owned by the caller. */
struct list_check *list_check_new(const struct split_view *view, list_check_fn *seen, void *arg);
/* Takes the next bytes, cut anywhere. -1: not a list, an object that is too long, or no version
 * before the items. API lists start with ListMeta. list_check_end() gives the error. */
int list_check_feed(struct list_check *l, const char *bytes, size_t n);
/* Ends the list: sets the error, or ERR_CONFLICT if it had news. */
void list_check_end(struct list_check *l, struct err *e);
/* Frees it; NULL has no effect. */
void list_check_free(struct list_check *l);

#endif
