#include "base/xid_mild.h"

#include <stddef.h>

#include "base/mem.h"

bool xid_is_mild(int64_t xid)
{
    static const struct {
        uint16_t first, last;
    } mild[] = {
        { 8, 8 },     { 11, 11 },   { 13, 14 },   { 25, 25 },   { 31, 32 },   { 39, 41 },
        { 43, 43 },   { 45, 45 },   { 60, 60 },   { 68, 72 },   { 75, 78 },   { 80, 80 },
        { 82, 86 },   { 88, 89 },   { 96, 108 },  { 121, 121 }, { 126, 135 }, { 137, 137 },
        { 139, 139 }, { 141, 141 }, { 147, 148 }, { 152, 153 }, { 160, 161 },
    };
    for (size_t i = 0; i < ARRAY_LEN(mild); i++)
        if (xid >= mild[i].first && xid <= mild[i].last)
            return true;
    return false;
}
