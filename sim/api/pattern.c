#include "sim/api/pattern.h"

bool pattern_matches(const regex_t *pattern, const char *text, size_t len)
{
    regmatch_t all = { .rm_so = 0, .rm_eo = (regoff_t) len };
    return regexec(pattern, text, 1, &all, REG_STARTEND) == 0;
}
