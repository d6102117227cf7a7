/* Prints an inventory as text for people. */
#ifndef OSTLER_NODE_SHOW_H
#define OSTLER_NODE_SHOW_H

#include <stdio.h>

#include "node/inventory/inventory.h"

void show_inventory(const struct inventory *i, FILE *out);

#endif
