#include "sim/api/pattern.h"

#include <stdlib.h>

#include "base/mem.h"

regex_t *pattern_new(const char *text)
{
    regex_t *pattern = xcalloc(1, sizeof *pattern);
    if (regcomp(pattern, text, REG_EXTENDED | REG_NOSUB) == 0)
        return pattern;
    free(pattern);
    return NULL;
}

void pattern_free(regex_t *pattern)
{
    if (pattern)
        regfree(pattern);
    free(pattern);
}

bool pattern_matches(const regex_t *pattern, const char *text, size_t len)
{
    regmatch_t all = { .rm_so = 0, .rm_eo = (regoff_t) len };
    return regexec(pattern, text, 1, &all, REG_STARTEND) == 0;
}
