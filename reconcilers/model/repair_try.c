#include "reconcilers/model/repair_try.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"

static const char *const kinds[REPAIR_KINDS] = {
    [REPAIR_RESET] = "Reset", [REPAIR_REBOOT] = "Reboot"
};

static bool read_try(const json_t *item, struct repair_try *ret)
{
    int64_t us = clock_parse_written(json_str(item, "at"));
    ret->at_s = us / 1000000;
    ret->kind = 0;
    while (ret->kind < REPAIR_KINDS && !str_eq(kinds[ret->kind], json_str(item, "kind")))
        ret->kind++;
    return ret->kind < REPAIR_KINDS && us >= 0;
}

bool repair_tries_read(const json_t *list, struct repair_try ret[static REPAIRS_MAX],
                       uint8_t *ret_len)
{
    *ret_len = 0;
    if (json_array_size(list) > REPAIRS_MAX)
        return false;
    JSON_EACH (item, list)
        if (!read_try(item, &ret[(*ret_len)++]))
            return false;
    return true;
}

json_t *repair_tries_json(const struct repair_try *tries, size_t len)
{
    json_t *list = json_array();
    for (size_t i = 0; i < len; i++) {
        char at[CLOCK_TEXT_MAX];
        clock_rfc3339(tries[i].at_s * 1000000, at);
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "kind", kinds[tries[i].kind], "at", at));
    }
    return list;
}
