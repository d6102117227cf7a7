/* A refusal of the simulated API server as lines of text. */
#ifndef OSTLER_TESTS_SUPPORT_CAUSES_H
#define OSTLER_TESTS_SUPPORT_CAUSES_H

#include "sim/api/refusal.h"

/* "Invalid spec.x: Invalid value: …" for each cause, a line each: its type without "FieldValue"; of
 * a long message only the beginning. Owned by the caller. */
char *causes_text(const struct refusal *r);

#endif
