/* This program's heap, with an account for each of two owners: what Ostler has allocated, and what
 * the world around it has. A block belongs to the one whose code ran when it was made, whoever
 * frees it. For one thread. */
#ifndef OSTLER_TESTS_SCALE_HEAP_H
#define OSTLER_TESTS_SCALE_HEAP_H

#include <stddef.h>

enum heap_owner { HEAP_WORLD, HEAP_OSTLER, HEAP_OWNERS };

/* From here on blocks are made for this one; returns for whom they were made before. */
enum heap_owner heap_enter(enum heap_owner owner);
/* Bytes of its blocks, with what the allocator adds to each. */
size_t heap_bytes(enum heap_owner owner);
/* The most that it was since the last heap_forget_peak(). */
size_t heap_peak(enum heap_owner owner);
void heap_forget_peak(enum heap_owner owner);

#endif
