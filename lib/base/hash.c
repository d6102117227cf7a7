#include "base/hash.h"

#include <string.h>

/* main() sets it once, before any use. */
static uint64_t the_seed[2];

struct sip {
    uint64_t a, b, c, d;
};

void hash_set_seed(const uint64_t seed[2])
{
    memcpy(the_seed, seed, sizeof the_seed);
}

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(struct sip *s)
{
    s->a += s->b;
    s->c += s->d;
    s->b = rotate(s->b, 13) ^ s->a;
    s->d = rotate(s->d, 16) ^ s->c;
    s->a = rotate(s->a, 32);
    s->c += s->b;
    s->a += s->d;
    s->b = rotate(s->b, 17) ^ s->c;
    s->d = rotate(s->d, 21) ^ s->a;
    s->c = rotate(s->c, 32);
}

static void hash_take_word(struct sip *s, uint64_t word)
{
    s->d ^= word;
    mix(s);
    s->a ^= word;
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    struct sip s = { the_seed[0] ^ UINT64_C(0x736f6d6570736575),
                     the_seed[1] ^ UINT64_C(0x646f72616e646f6d),
                     the_seed[0] ^ UINT64_C(0x6c7967656e657261),
                     the_seed[1] ^ UINT64_C(0x7465646279746573) };
    uint64_t word, last = (uint64_t) n << 56;
    for (size_t i = 0; i < n / 8; i++) {
        memcpy(&word, p + i * 8, sizeof word); /* both supported processors are little-endian */
        hash_take_word(&s, word);
    }
    for (size_t i = n / 8 * 8; i < n; i++)
        last |= (uint64_t) p[i] << (i % 8 * 8);
    hash_take_word(&s, last);
    s.c ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}
