/* Interned strings: frequent strings (label keys and values, image names) stored once,
 * reference-counted, with 32-bit ids. */
#ifndef OSTLER_BASE_INTERN_H
#define OSTLER_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* No string; its text is NULL. */
enum { INTERN_NONE = 0 };

struct intern;

/* An empty table, owned by the caller. */
struct intern *intern_new(void);
/* Frees the table with all strings, whatever their references. NULL has no effect. */
void intern_free(struct intern *in);
/* Returns the id of a string and adds a reference; INTERN_NONE for NULL. */
uint32_t intern_add(struct intern *in, const char *text);
/* Drops a reference; the last one frees the string. */
void intern_drop(struct intern *in, uint32_t id);
/* The text, valid while a reference is held; NULL for INTERN_NONE. */
const char *intern_text(const struct intern *in, uint32_t id);
/* Number of strings. */
size_t intern_count(const struct intern *in);

#endif
