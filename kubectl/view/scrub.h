/* Takes secrets out of what is handed to others. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_SCRUB_H
#define OSTLER_KUBECTL_VIEW_SCRUB_H

#include <jansson.h>

/* What stands in the place of a secret. */
#define SCRUB_MASK "(masked)"

/* A copy without managedFields and last-applied-configuration, with a mask in place of: values of variables, members and
 * annotations whose names are those of secrets; what follows such an argument, to its end; and what looks like a secret in any
 * text. New reference. */
json_t *scrub_object(const json_t *object);
/* The same of a Node, of which only Ostler's and NVIDIA's annotations stay. New reference. */
json_t *scrub_node(const json_t *node);
/* A text with a mask in place of: passwords in URLs, bearer tokens, JSON web tokens, keys that are known by their look, private
 * keys, and what stands behind "password=", "token: ", "--token " and their like. Owned by the caller. */
char *scrub_text(const char *text);

#endif
