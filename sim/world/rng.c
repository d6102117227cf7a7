#include "sim/world/rng.h"

#include <string.h>

#include "base/str.h"

/* SplitMix64 (Steele, Lea, Flood, 2014): one word of state, and every seed is good. */
uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct rng rng_of(uint64_t seed)
{
    struct rng r = { .state = seed };
    rng_next(&r);
    return r;
}

uint64_t rng_below(struct rng *r, uint64_t below)
{
    return below ? (uint64_t) (((unsigned __int128) rng_next(r) * below) >> 64) : 0;
}

int64_t rng_between(struct rng *r, int64_t low, int64_t high)
{
    return low + (int64_t) rng_below(r, (uint64_t) (high - low) + 1);
}

bool rng_one_in(struct rng *r, uint64_t n)
{
    return rng_below(r, n) == 0;
}

struct rng rng_fork(struct rng *r, const char *purpose)
{
    return rng_of(rng_next(r) ^ str_hash(purpose, strlen(purpose)));
}
