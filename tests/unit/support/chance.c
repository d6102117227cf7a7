#include "tests/unit/support/chance.h"

struct chance chance_of(uint64_t seed)
{
    return (struct chance){ (seed + 1) * 0x9E3779B97F4A7C15ULL };
}

uint32_t chance_below(struct chance *c, uint32_t below)
{
    /* xorshift64 */
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return (uint32_t) (c->state >> 32) % below;
}
