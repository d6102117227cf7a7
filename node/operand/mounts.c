#include "node/operand/mounts.h"

bool mounts_has(struct part text, const char *place)
{
    struct part line, device, at;
    while (part_next(&text, '\n', &line))
        if (part_word(&line, &device) && part_word(&line, &at) && part_is(at, place))
            return true;
    return false;
}
