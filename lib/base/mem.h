/* Memory: allocation that never returns NULL, and the two macros that make ownership visible.
 * When memory is exhausted the process says so and aborts: every state that matters is in the API server. */
#ifndef OSTLER_BASE_MEM_H
#define OSTLER_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Runs fn(&variable) at the end of the variable's scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define CLEANUP_FREE CLEANUP(mem_cleanup_free)
/* Hands a pointer to a new owner: yields its value and leaves NULL behind. */
#define TAKE(p)                                                                                    \
    ({                                                                                             \
        __auto_type take_ptr_ = &(p);                                                              \
        __auto_type take_val_ = *take_ptr_;                                                        \
        *take_ptr_ = NULL;                                                                         \
        take_val_;                                                                                 \
    })
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The struct that holds a member. */
#define container_of(ptr, type, member) ((type *) (void *) ((char *) (ptr) - offsetof(type, member)))

/* Zeroed memory; n * size is checked for overflow. */
void *xcalloc(size_t n, size_t size);
/* Resizes to n * size (checked); the new part is not zeroed. */
void *xreallocarray(void *p, size_t n, size_t size);
/* A copy of a text that is there. */
char *xstrdup(const char *s);
/* Copies at most n bytes and ends them with a NUL. */
char *xstrndup(const char *s, size_t n);
/* A text that is put together. */
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);
/* The same of a list of arguments, which is used up. */
char *xvasprintf(const char *fmt, va_list ap) PRINTF(1, 0);
/* Makes jansson allocate through these functions, so that it never returns NULL for want of memory. Call once, first. */
void mem_hook_jansson(void);
/* For CLEANUP_FREE. */
void mem_cleanup_free(void *p);

#endif
