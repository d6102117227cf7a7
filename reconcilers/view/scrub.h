/* Removes secrets from data for others. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_SCRUB_H
#define OSTLER_RECONCILERS_VIEW_SCRUB_H

#include <jansson.h>

/* The replacement of a secret. */
#define SCRUB_MASK "(masked)"

/* A copy without managedFields and last-applied-configuration. It masks values of variables,
 * members and annotations with names of secrets, and the rest of an argument after such a name.
 * It also masks what looks like a secret in any text. New reference. */
json_t *scrub_object(const json_t *value);
/* The same for a Node; it keeps only Ostler's and NVIDIA's annotations. New reference. */
json_t *scrub_node(const json_t *node);
/* A masked copy: passwords in URLs, bearer tokens, JSON web tokens, keys with a known format,
 * private keys, and text after "password=", "token: ", "--token " and similar. Owned by the
 * caller. */
char *scrub_text(const char *text);

#endif
