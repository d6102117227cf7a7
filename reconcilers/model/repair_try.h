/* Attempts to repair a node's GPUs, as the annotation ostler.dev/fault and `status.health.repairs`
 * of a GpuNode list them. */
#ifndef OSTLER_RECONCILERS_MODEL_REPAIR_TRY_H
#define OSTLER_RECONCILERS_MODEL_REPAIR_TRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum repair_kind { REPAIR_RESET, REPAIR_REBOOT, REPAIR_KINDS };

/* Most attempts that are remembered. */
enum { REPAIRS_MAX = 8 };

/* One attempt to repair the node. */
struct repair_try {
    uint8_t kind; /* enum repair_kind */
    int64_t at_s; /* when it began, epoch seconds */
};

/* Reads a list that repair_tries_json() writes; false: it is another one, and of `ret` nothing is
 * known. */
bool repair_tries_read(const json_t *list, struct repair_try ret[static REPAIRS_MAX],
                       uint8_t *ret_len);
/* The list, in its order. New reference. */
json_t *repair_tries_json(const struct repair_try *tries, size_t len);

#endif
