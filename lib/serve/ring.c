#include "serve/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MARKS = 256 }; /* frames that a viewer can continue after: half a minute of them at least */

struct mark {
    uint64_t sequence;
    uint64_t end; /* of its frame */
};

struct ring {
    size_t size;
    char *bytes;    /* NULL: no frame yet */
    uint64_t begin; /* everything from here on is there, unless it is overwritten */
    uint64_t end;
    uint64_t sequence;
    struct mark marks[MARKS]; /* at the sequence number modulo their number */
};

struct ring *ring_new(size_t size)
{
    struct ring *r = xcalloc(1, sizeof *r);
    r->size = size;
    r->sequence = 1;
    r->marks[1] = (struct mark){ .sequence = 1 };
    return r;
}

void ring_free(struct ring *r)
{
    if (r)
        free(r->bytes);
    free(r);
}

uint64_t ring_sequence(const struct ring *r)
{
    return r->sequence;
}

uint64_t ring_end(const struct ring *r)
{
    return r->end;
}

void ring_add_beat(struct ring *r, const char *frame, size_t len)
{
    if (len > r->size) {
        r->end += len;
        r->begin = r->end;
        return;
    }
    if (!r->bytes)
        r->bytes = xcalloc(1, r->size);
    size_t at = r->end % r->size, first = len < r->size - at ? len : r->size - at;
    memcpy(r->bytes + at, frame, first);
    memcpy(r->bytes, frame + first, len - first);
    r->end += len;
}

static void mark_end(struct ring *r)
{
    r->sequence++;
    r->marks[r->sequence % MARKS] = (struct mark){ r->sequence, r->end };
}

void ring_add(struct ring *r, const char *frame, size_t len)
{
    ring_add_beat(r, frame, len);
    mark_end(r);
}

static bool has_from(const struct ring *r, uint64_t at)
{
    return at >= r->begin && at <= r->end && r->end - at <= r->size;
}

bool ring_find(const struct ring *r, uint64_t sequence, uint64_t *ret_at)
{
    const struct mark *m = &r->marks[sequence % MARKS];
    *ret_at = m->end;
    return sequence > 0 && m->sequence == sequence && has_from(r, m->end);
}

bool ring_read(const struct ring *r, uint64_t at, const char **ret_bytes, size_t *ret_len)
{
    *ret_len = 0;
    if (!has_from(r, at))
        return false;
    if (at == r->end)
        return true;
    size_t from = at % r->size, left = (size_t) (r->end - at);
    *ret_bytes = r->bytes + from;
    *ret_len = left < r->size - from ? left : r->size - from;
    return true;
}

void ring_forget(struct ring *r)
{
    free(TAKE(r->bytes));
    r->end++; /* so that a viewer of before is told */
    r->begin = r->end;
    mark_end(r);
}
