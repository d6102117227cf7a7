/* Describes an action of a scenario as text, for example "carol labels infer-2
 * ostler.dev/managed=false". */
#ifndef OSTLER_SIM_EDIT_TEXT_H
#define OSTLER_SIM_EDIT_TEXT_H

#include "base/buf.h"
#include "sim/actors/world_spec.h"

/* Appends the description, and the API server's refusal if there was one (`refused` may be
 * NULL). */
void action_text(const struct spec_action *action, const char *refused, struct buf *out);

#endif
