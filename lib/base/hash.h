/* The hash function of in-memory tables: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012) with a seed that only this process knows. Tenants choose the names of
 * pods and labels; without the seed they could choose names that collide. Hashes that are
 * stored, compared between processes or part of a name use str_hash(). */
#ifndef OSTLER_BASE_HASH_H
#define OSTLER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Sets the seed of this process. Call it once, before the first table exists: a new seed makes
 * existing entries unreachable. The default seed is 0, so that the simulator and the tests
 * repeat a run exactly. */
void hash_set_seed(const uint64_t seed[2]);
/* The hash of n bytes under the seed. */
uint64_t hash_bytes(const void *bytes, size_t n);

#endif
