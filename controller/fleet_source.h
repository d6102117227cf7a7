/* What the fleet page shows, from an engine. */
#ifndef OSTLER_CONTROLLER_FLEET_SOURCE_H
#define OSTLER_CONTROLLER_FLEET_SOURCE_H

#include "controller/engine/engine.h"
#include "controller/fleet.h"

/* All members are borrowed. */
struct fleet_engine {
    struct engine *engine;
    const char *version, *holder;
};

/* The texts of an engine's cluster. `from` is borrowed. */
struct fleet_texts fleet_texts_of(struct fleet_engine *from);

#endif
