/* Chance from one seed: the same seed gives the same numbers, on every machine. */
#ifndef OSTLER_SIM_WORLD_RNG_H
#define OSTLER_SIM_WORLD_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

/* A stream that the seed alone decides. */
struct rng rng_of(uint64_t seed);
/* The next 64 bits. */
uint64_t rng_next(struct rng *r);
/* From 0 to below - 1; 0 when `below` is 0. */
uint64_t rng_below(struct rng *r, uint64_t below);
/* From low to high, both included. */
int64_t rng_between(struct rng *r, int64_t low, int64_t high);
/* True once in `n` times. */
bool rng_one_in(struct rng *r, uint64_t n);
/* A stream of its own for one purpose, so that a new use of chance elsewhere does not move this one. */
struct rng rng_fork(struct rng *r, const char *purpose);

#endif
