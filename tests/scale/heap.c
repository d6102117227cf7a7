#include "tests/scale/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

/* glibc's own, which the functions below stand before. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

enum { HEADER = sizeof(size_t) }; /* of glibc, before each block */

static enum heap_owner running;
static struct {
    size_t bytes, peak;
} accounts[HEAP_OWNERS];

enum heap_owner heap_enter(enum heap_owner owner)
{
    enum heap_owner before = running;
    running = owner;
    return before;
}

size_t heap_bytes(enum heap_owner owner)
{
    return accounts[owner].bytes;
}

size_t heap_peak(enum heap_owner owner)
{
    return accounts[owner].peak;
}

void heap_forget_peak(enum heap_owner owner)
{
    accounts[owner].peak = accounts[owner].bytes;
}

/* The last byte of a block, one more than was asked for, names the owner. */
static unsigned char *owner_of(void *p)
{
    return (unsigned char *) p + malloc_usable_size(p) - 1;
}

static void *taken(void *p, enum heap_owner owner)
{
    if (!p)
        return NULL;
    *owner_of(p) = (unsigned char) owner;
    accounts[owner].bytes += malloc_usable_size(p) + HEADER;
    if (accounts[owner].bytes > accounts[owner].peak)
        accounts[owner].peak = accounts[owner].bytes;
    return p;
}

/* Returns the owner of a block that goes. */
static enum heap_owner given(void *p)
{
    enum heap_owner owner = *owner_of(p);
    accounts[owner].bytes -= malloc_usable_size(p) + HEADER;
    return owner;
}

/* ---- in the place of the C library's */

void *malloc(size_t n)
{
    return taken(n < SIZE_MAX ? __libc_malloc(n + 1) : NULL, running);
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes == SIZE_MAX)
        return NULL;
    return taken(__libc_calloc(1, bytes + 1), running);
}

void *realloc(void *p, size_t n)
{
    if (!p)
        return malloc(n);
    enum heap_owner owner = given(p);
    void *moved = n < SIZE_MAX ? __libc_realloc(p, n + 1) : NULL;
    taken(moved ? moved : p, owner);
    return moved;
}

void *memalign(size_t alignment, size_t n)
{
    return taken(n < SIZE_MAX ? __libc_memalign(alignment, n + 1) : NULL, running);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **ret, size_t alignment, size_t n)
{
    *ret = memalign(alignment, n);
    return *ret ? 0 : ENOMEM;
}

void free(void *p)
{
    if (!p)
        return;
    given(p);
    __libc_free(p);
}
