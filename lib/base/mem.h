/* Memory: allocation that never returns NULL, and two macros that make ownership visible. If
 * memory runs out, the process logs that and aborts: the API server holds all important state. */
#ifndef OSTLER_BASE_MEM_H
#define OSTLER_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Runs fn(&variable) at the end of the variable's scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define CLEANUP_FREE CLEANUP(mem_cleanup_free)
/* Moves a pointer to a new owner: yields its value and leaves NULL. */
#define TAKE(p)                                                                                    \
    ({                                                                                             \
        __auto_type take_ptr_ = &(p);                                                              \
        __auto_type take_val_ = *take_ptr_;                                                        \
        *take_ptr_ = NULL;                                                                         \
        take_val_;                                                                                 \
    })
/* In a function with the last parameters `fmt, ...`: the formatted text, owned by the caller. */
#define FORMATTED(fmt)                                                                             \
    ({                                                                                             \
        va_list args_;                                                                             \
        va_start(args_, fmt);                                                                      \
        char *text_ = xvasprintf(fmt, args_);                                                      \
        va_end(args_);                                                                             \
        text_;                                                                                     \
    })
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The struct that holds a member. */
#define container_of(ptr, type, member) ((type *) (void *) ((char *) (ptr) -offsetof(type, member)))

/* Zeroed memory; checks n * size for overflow. */
void *xcalloc(size_t n, size_t size);
/* Resizes to n * size (checked); does not zero the new part. */
void *xreallocarray(void *p, size_t n, size_t size);
/* Room for one more item after `len` ones: *cap, which is doubled when they fill it. */
void *xgrow(void *items, size_t len, size_t *cap, size_t size);
/* A copy of a non-NULL string. */
char *xstrdup(const char *s);
/* A copy of a string; NULL for NULL. */
char *xstrdup_or_null(const char *s);
/* Replaces an owned string by a copy of another; either may be NULL. */
void xstrset(char **place, const char *s);
/* Copies at most n bytes and adds a NUL. */
char *xstrndup(const char *s, size_t n);
/* A formatted string. */
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);
/* The same with a list of arguments, which it consumes. */
char *xvasprintf(const char *fmt, va_list ap) PRINTF(1, 0);
/* Makes jansson allocate through these functions, so that it never returns NULL for lack of
 * memory. Call it once, first. */
void mem_hook_jansson(void);
/* For CLEANUP_FREE. */
void mem_cleanup_free(void *p);

#endif
