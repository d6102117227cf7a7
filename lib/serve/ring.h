/* The encoded frames that all viewers of the fleet page share: the last bytes of an endless text.
 * Each viewer has a position in it, and none has a buffer of its own. Memory is taken with the
 * first frame. */
#ifndef OSTLER_SERVE_RING_H
#define OSTLER_SERVE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* Keeps the last `size` bytes. Owned by the caller. */
struct ring *ring_new(size_t size);
void ring_free(struct ring *r);
/* The sequence number of the newest frame. It starts at 1, for the state before the first frame. */
uint64_t ring_sequence(const struct ring *r);
/* Appends a frame, and counts it. A frame longer than the ring moves the text on, so that no viewer
 * can read what it left out. */
void ring_add(struct ring *r, const char *frame, size_t len);
/* The same for a frame that changes nothing: it gets no number. */
void ring_add_beat(struct ring *r, const char *frame, size_t len);
/* The end of the text, from which only later frames are read. */
uint64_t ring_end(const struct ring *r);
/* The position behind the frame with that number; false: the ring no longer has all that follows
 * it, or has not reached it. */
bool ring_find(const struct ring *r, uint64_t sequence, uint64_t *ret_at);
/* The bytes at a position as far as they lie together (0: it is the end); false: they are
 * overwritten. */
bool ring_read(const struct ring *r, uint64_t at, const char **ret_bytes, size_t *ret_len);
/* Frees the text. What comes next has a new number, and no earlier position is found. */
void ring_forget(struct ring *r);

#endif
