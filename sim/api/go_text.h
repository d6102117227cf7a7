/* Values as Go prints them (%v), for sentences of the API server that hold one: map[a:1 b:[x y]
 * c:<nil>]. */
#ifndef OSTLER_SIM_API_GO_TEXT_H
#define OSTLER_SIM_API_GO_TEXT_H

#include <jansson.h>

/* Owned by the caller. */
char *go_text(const json_t *value);

#endif
