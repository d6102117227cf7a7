/* Pseudorandom numbers: the same seed gives the same numbers on every machine. */
#ifndef OSTLER_SIM_WORLD_RNG_H
#define OSTLER_SIM_WORLD_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

/* A stream determined by the seed alone. */
struct rng rng_of(uint64_t seed);
uint64_t rng_next(struct rng *r);
/* From 0 to below - 1; 0 when `below` is 0. */
uint64_t rng_below(struct rng *r, uint64_t below);
/* From low to high, both included. */
int64_t rng_between(struct rng *r, int64_t low, int64_t high);
/* True with probability 1/n. */
bool rng_one_in(struct rng *r, uint64_t n);
/* A separate stream for one purpose, so that new users of randomness do not change this one. */
struct rng rng_fork(struct rng *r, const char *purpose);

#endif
