/* No command of a manifest needs a shell. */
#ifndef OSTLER_TESTS_MANIFESTS_NO_SHELL_H
#define OSTLER_TESTS_MANIFESTS_NO_SHELL_H

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/cmocka.h"

/* Whether a word of a command line is a shell, or something that only a shell would take for what
 * it is. */
static inline bool is_of_shell(const char *word)
{
    static const char *const shells[] = { "sh", "bash", "dash", "ash", "zsh", "busybox", "env" };
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (str_eq(name, shells[i]))
            return true;
    return str_eq(word, "-c") || str_eq(word, "-ec") || strpbrk(word, "\n;|&<>`*?\"'") ||
           strstr(word, "$((") || strstr(word, "${");
}

static inline void assert_words(const json_t *words)
{
    size_t i;
    json_t *word;
    json_array_foreach (words, i, word)
        if (is_of_shell(json_string_value(word)))
            fail_msg("a shell would be needed for \"%s\"", json_string_value(word));
}

/* Commands of containers, their probes and their hooks, wherever they are in an object. */
static inline void assert_no_shell(const json_t *node)
{
    static const char *const lists[] = { "command", "args" };
    const char *key;
    size_t i;
    json_t *value;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        assert_words(json_object_get(node, lists[l]));
    json_object_foreach ((json_t *) node, key, value)
        assert_no_shell(value);
    json_array_foreach (node, i, value)
        assert_no_shell(value);
}

#endif
