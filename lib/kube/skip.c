#include "kube/skip.h"

#include <stdint.h>

#ifdef __x86_64__
#include <immintrin.h>
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

#ifdef __x86_64__
/* Where in a block the bytes are that count: bit i is byte i. */
struct marks {
    uint64_t backslashes, quotes, opens, closes;
};

enum { CASE = 'a' - 'A' }; /* also the difference of {} and [] */

/* Instructions that processors have since about 2013. */
#define WIDE __attribute__((target("avx2,popcnt")))

WIDE static inline uint64_t bits_of(const __m256i parts[static 2], char c)
{
    const __m256i wanted = _mm256_set1_epi8(c);
    uint64_t high = (unsigned) _mm256_movemask_epi8(_mm256_cmpeq_epi8(parts[1], wanted));
    return high << 32 | (unsigned) _mm256_movemask_epi8(_mm256_cmpeq_epi8(parts[0], wanted));
}

WIDE static inline struct marks marks_of(const char *text)
{
    const __m256i *at = (const __m256i *) (const void *) text, fold = _mm256_set1_epi8(CASE);
    const __m256i block[] = { _mm256_loadu_si256(at), _mm256_loadu_si256(at + 1) };
    const __m256i folded[] = { _mm256_or_si256(block[0], fold), _mm256_or_si256(block[1], fold) };
    return (struct marks){ bits_of(block, '\\'), bits_of(block, '"'), bits_of(folded, '{'),
                           bits_of(folded, '}') };
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

static inline __attribute__((always_inline)) size_t skip_marks(struct skip *s,
                                                               const struct marks *m)
{
    uint64_t escaped = m->backslashes || s->in_escape ? escaped_bits(s, m->backslashes) : 0;
    uint64_t strings = odd_so_far(m->quotes & ~escaped) ^ (s->in_string ? UINT64_MAX : 0);
    uint64_t opens = m->opens & ~strings, closes = m->closes & ~strings;
    size_t closed = closes ? (size_t) __builtin_popcountll(closes) : 0, end = 0;
    if (closed < s->open)
        s->open += (opens ? (size_t) __builtin_popcountll(opens) : 0) - closed;
    else
        end = close_last(s, opens, closes);
    s->in_string = !end && strings >> (BLOCK - 1);
    s->in_escape &= !end;
    return end ? end : BLOCK;
}

WIDE static size_t skip_wide(struct skip *s, const char *text, size_t len)
{
    size_t i = 0;
    while (s->open && len - i >= BLOCK) {
        const struct marks m = marks_of(text + i);
        i += skip_marks(s, &m);
    }
    return i;
}

static size_t skip_blocks(struct skip *s, const char *text, size_t len)
{
    bool can = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
    return can ? skip_wide(s, text, len) : 0;
}
#else
static size_t skip_blocks(struct skip *s, const char *text, size_t len)
{
    (void) s;
    (void) text;
    (void) len;
    return 0;
}
#endif

size_t skip_json(struct skip *s, const char *text, size_t len)
{
    size_t i = skip_blocks(s, text, len);
    return i + skip_bytes(s, text + i, len - i);
}
