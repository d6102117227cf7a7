/* The nodes of the fleet page as columns, with a dictionary for their texts: a third of the bytes
 * of rows. They are written without a tree of JSON values in between. */
#ifndef OSTLER_RECONCILERS_FLEET_COLUMNS_H
#define OSTLER_RECONCILERS_FLEET_COLUMNS_H

#include "base/buf.h"
#include "reconcilers/cluster.h"

/* Appends the members "dictionary" and "columns" of an object, with a comma in between. */
void fleet_columns(const struct cluster *c, struct buf *out);

#endif
