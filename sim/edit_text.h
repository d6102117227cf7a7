/* What an action of a scenario is called: "carol labels infer-2 ostler.dev/managed=false". */
#ifndef OSTLER_SIM_EDIT_TEXT_H
#define OSTLER_SIM_EDIT_TEXT_H

#include "base/buf.h"
#include "sim/actors/world_spec.h"

/* Appends it, with what the API server said when it refused it (`refused` may be NULL). */
void deed_text(const struct spec_action *action, const char *refused, struct buf *out);

#endif
