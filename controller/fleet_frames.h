/* The frames of the fleet page's streams, as text/event-stream. Their ids come last, so that a
 * viewer that is cut off within a frame has not seen its id. */
#ifndef OSTLER_CONTROLLER_FLEET_FRAMES_H
#define OSTLER_CONTROLLER_FLEET_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "controller/fleet.h"

/* The nodes of a set of names: those that are shown, and those that are not any longer. */
void fleet_frame_nodes(const struct fleet_texts *texts, const struct map *names, const char *as_of,
                       const char *id, struct buf *out);
/* The policy. */
void fleet_frame_policy(const struct fleet_texts *texts, const char *as_of, const char *id,
                        struct buf *out);
/* Begin anew, with a snapshot. `id` NULL: the viewer keeps the last one. */
void fleet_frame_reset(const char *id, struct buf *out);
/* Nothing has changed. `as_of` NULL: this Ostler does not hear of changes; it only keeps the
 * connection open. */
void fleet_frame_beat(const char *as_of, struct buf *out);

/* The id of the state after a frame, `<holder>-<sequence>`. It is the same in a URL, a header and
 * an ETag: other characters of the holder, which is a machine's name, become "_". */
void fleet_id(const char *holder, uint64_t sequence, char ret[static PAGE_TAG_MAX]);
/* The sequence number in an id of this holder; false: it is of another one, or no id. */
bool fleet_id_parse(const char *id, const char *holder, uint64_t *ret_sequence);

#endif
