#include "runtime/outage.h"

#include "base/log.h"

bool outage_is_general(enum err_kind kind)
{
    return kind == ERR_UNREACHABLE || kind == ERR_TIMEOUT || kind == ERR_SERVER ||
           kind == ERR_THROTTLED || kind == ERR_UNAUTHORIZED;
}

void outage_note(struct outage *o, enum err_kind before, enum err_kind now, const char *sentence)
{
    if (!o)
        return;
    o->failing += outage_is_general(now);
    o->failing -= outage_is_general(before);
    if (outage_is_general(now) && !(o->told & 1u << now)) {
        o->told |= 1u << now;
        log_warn("the API server does not answer as it should", "kind", err_kind_name(now), "err",
                 sentence);
    }
    if (o->failing == 0 && o->told) {
        o->told = 0;
        log_info("the API server answers again");
    }
}
