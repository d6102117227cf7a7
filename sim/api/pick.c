/* The part of JSONPath that printer columns use. */
#include "sim/api/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* Keys and texts of a path. */
enum { WORD_MAX = 256 };

/* Reads up to one of the bytes that end a word, which is not read; a backslash takes away the
 * meaning of the byte after it. False for a word that is too long. */
static bool read_word(const char **at, const char *ends, char ret[static WORD_MAX])
{
    size_t n = 0;
    while (**at && !strchr(ends, **at)) {
        if (**at == '\\' && (*at)[1])
            ++*at;
        if (n + 1 == WORD_MAX)
            return false;
        ret[n++] = *(*at)++;
    }
    ret[n] = '\0';
    return true;
}

static bool read_exactly(const char **at, const char *text)
{
    if (!str_has_prefix(*at, text))
        return false;
    *at += strlen(text);
    return true;
}

static bool read_quoted(const char **at, char ret[static WORD_MAX])
{
    const char quote[] = { **at, '\0' };
    if (*quote != '\'' && *quote != '"')
        return false;
    ++*at;
    return read_word(at, quote, ret) && read_exactly(at, quote);
}

/* The first item whose key has a text: the rest of `?(@.KEY=="TEXT")]`. */
static const json_t *pick_matching(const json_t *list, const char **at)
{
    char key[WORD_MAX], text[WORD_MAX];
    if (!read_word(at, "=", key) || !read_exactly(at, "==") || !read_quoted(at, text) ||
        !read_exactly(at, ")]"))
        return NULL;
    return json_find(list, key, text);
}

/* The part in brackets: a filter, a quoted key, an index, or "*". */
static const json_t *pick_bracket(const json_t *value, const char **at)
{
    char word[WORD_MAX];
    int64_t place = 0;
    if (read_exactly(at, "?(@."))
        return pick_matching(value, at);
    if (**at == '\'' || **at == '"')
        return read_quoted(at, word) && read_exactly(at, "]") ? json_object_get(value, word) : NULL;
    if (!read_word(at, "]", word) || !read_exactly(at, "]"))
        return NULL;
    if (!str_eq(word, "*") && !str_parse_int(word, 0, INT32_MAX, &place))
        return NULL;
    return json_array_get(value, (size_t) place);
}

const json_t *pick(const json_t *root, const char *path)
{
    const json_t *value = root;
    const char *at = path;
    while (*at && value) {
        char key[WORD_MAX];
        if (read_exactly(&at, "["))
            value = pick_bracket(value, &at);
        else if (read_exactly(&at, ".") && read_word(&at, ".[", key))
            value = *key ? json_object_get(value, key) : value;
        else
            return NULL;
    }
    return value;
}
