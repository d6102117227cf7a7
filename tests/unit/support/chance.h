/* Chance that can be had again: the same seed gives the same numbers, everywhere. */
#ifndef OSTLER_TESTS_SUPPORT_CHANCE_H
#define OSTLER_TESTS_SUPPORT_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

struct chance chance_of(uint64_t seed);
/* A number from 0 to below - 1. */
uint32_t chance_below(struct chance *c, uint32_t below);

#endif
