#include "kube/skip.h"

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* Byte by byte. */
static size_t skip_bytes(struct skip *s, const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && s->open) {
        char c = text[i++];
        bool escaped = s->in_escape;
        s->in_escape = c == '\\' && !escaped;
        if (c == '"')
            s->in_string ^= !escaped;
        else if (!s->in_string && (c == '{' || c == '['))
            s->open++;
        else if (!s->in_string && (c == '}' || c == ']'))
            s->open--;
    }
    return i;
}

#ifdef __SSE2__
struct block {
    __m128i parts[4];
};

static struct block load(const char *text)
{
    const __m128i *at = (const __m128i *) (const void *) text;
    return (struct block){ { _mm_loadu_si128(at), _mm_loadu_si128(at + 1), _mm_loadu_si128(at + 2),
                             _mm_loadu_si128(at + 3) } };
}

/* The block with the bits of `fold` set in each byte. */
static struct block fold(const struct block *b, char bits)
{
    const __m128i all = _mm_set1_epi8(bits);
    return (struct block){ { _mm_or_si128(b->parts[0], all), _mm_or_si128(b->parts[1], all),
                             _mm_or_si128(b->parts[2], all), _mm_or_si128(b->parts[3], all) } };
}

static uint64_t part_bits(__m128i part, __m128i wanted)
{
    return (uint64_t) (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted));
}

/* Bit i: byte i of the block is `c`. */
static uint64_t bits_of(const struct block *b, char c)
{
    const __m128i wanted = _mm_set1_epi8(c);
    return part_bits(b->parts[0], wanted) | part_bits(b->parts[1], wanted) << 16 |
           part_bits(b->parts[2], wanted) << 32 | part_bits(b->parts[3], wanted) << 48;
}

/* Bit i: the number of bits up to and with i is odd. */
static uint64_t odd_so_far(uint64_t bits)
{
    for (int by = 1; by < BLOCK; by *= 2)
        bits ^= bits << by;
    return bits;
}

/* The bytes that a backslash escapes. */
static uint64_t escaped_bits(struct skip *s, uint64_t backslashes)
{
    uint64_t escaped = s->in_escape;
    s->in_escape = false;
    for (backslashes &= ~escaped; backslashes;) {
        uint64_t first = backslashes & -backslashes;
        s->in_escape = first >> (BLOCK - 1);
        escaped |= first << 1;
        backslashes &= ~(first | first << 1);
    }
    return escaped;
}

/* Goes through the brackets of a block to the one that closes the last container. */
static size_t close_last(struct skip *s, uint64_t opens, uint64_t closes)
{
    for (uint64_t rest = opens | closes; rest; rest &= rest - 1) {
        uint64_t first = rest & -rest;
        s->open += first & opens ? 1 : -(size_t) 1;
        if (!s->open)
            return (size_t) __builtin_ctzll(first) + 1;
    }
    return 0;
}

static size_t skip_block(struct skip *s, const char *text)
{
    enum { CASE = 'a' - 'A' }; /* also the difference of {} and [] */
    const struct block block = load(text), folded = fold(&block, CASE);
    uint64_t escaped = escaped_bits(s, bits_of(&block, '\\'));
    uint64_t quotes = bits_of(&block, '"') & ~escaped;
    uint64_t strings = odd_so_far(quotes) ^ (s->in_string ? UINT64_MAX : 0);
    uint64_t opens = bits_of(&folded, '{') & ~strings;
    uint64_t closes = bits_of(&folded, '}') & ~strings;
    size_t closed = closes ? (size_t) __builtin_popcountll(closes) : 0, end = 0;
    if (closed < s->open)
        s->open += (opens ? (size_t) __builtin_popcountll(opens) : 0) - closed;
    else
        end = close_last(s, opens, closes);
    s->in_string = !end && strings >> (BLOCK - 1);
    s->in_escape &= !end;
    return end ? end : BLOCK;
}
#else
static size_t skip_block(struct skip *s, const char *text)
{
    return skip_bytes(s, text, BLOCK);
}
#endif

size_t skip_json(struct skip *s, const char *text, size_t len)
{
    size_t i = 0;
    while (s->open && len - i >= BLOCK)
        i += skip_block(s, text + i);
    return i + skip_bytes(s, text + i, len - i);
}
