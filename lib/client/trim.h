/* Trims white space around text from a file or a header line. */
#ifndef OSTLER_CLIENT_TRIM_H
#define OSTLER_CLIENT_TRIM_H

#include <stdbool.h>
#include <stddef.h>

static inline bool trim_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Moves both ends of the text inwards. */
static inline void trim(const char **text, size_t *len)
{
    while (*len > 0 && trim_is_space((*text)[*len - 1]))
        --*len;
    while (*len > 0 && trim_is_space(**text)) {
        ++*text;
        --*len;
    }
}

#endif
