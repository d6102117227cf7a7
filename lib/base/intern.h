/* Strings that occur again and again (label keys and values, image names) stored once, counted, named by 32 bits. */
#ifndef OSTLER_BASE_INTERN_H
#define OSTLER_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* The id of no string; its text is NULL. */
enum { INTERN_NONE = 0 };

struct intern;

/* An empty table, owned by the caller. */
struct intern *intern_new(void);
/* Frees it with all strings, whoever holds them. NULL is none. */
void intern_free(struct intern *in);
/* The id of a string, with one reference more; INTERN_NONE for NULL. */
uint32_t intern_add(struct intern *in, const char *text);
/* Gives one reference back; a string that nobody holds is freed. */
void intern_drop(struct intern *in, uint32_t id);
/* The text, valid while a reference is held; NULL for INTERN_NONE. */
const char *intern_text(const struct intern *in, uint32_t id);
/* How many strings there are. */
size_t intern_count(const struct intern *in);

#endif
