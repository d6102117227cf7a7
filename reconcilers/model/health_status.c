#include "reconcilers/model/health_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

static const char *const states[HEALTH_STATES_LEN] = {
#define X(id, name) [HEALTH_IS_##id] = name,
    HEALTH_STATES(X)
#undef X
};

static enum health_state state_of(const char *name)
{
    for (size_t i = 0; i < HEALTH_STATES_LEN; i++)
        if (str_eq(states[i], name))
            return (enum health_state) i;
    return HEALTH_IS_REPORTED;
}

/* False: it is longer than what Ostler writes. */
static bool health_status_take(const json_t *from, const char *key, char *ret, size_t size)
{
    const char *text = json_str_or_empty(from, key);
    if (strlen(text) >= size)
        return false;
    strcpy(ret, text);
    return true;
}

struct health_status *health_status_read(const json_t *status)
{
    const json_t *said = json_object_get(status, GPU_NODE_HEALTH);
    enum health_level level;
    if (!health_level_parse(json_str(said, "level"), &level) || level == HEALTH_NONE)
        return NULL;
    struct health_status *h = xcalloc(1, sizeof *h);
    h->level = level;
    bool fits = health_status_take(said, "reason", h->reason, sizeof h->reason) &&
                health_status_take(said, "address", h->address, sizeof h->address) &&
                health_status_take(said, "message", h->message, sizeof h->message);
    h->since_s = object_time_s(said, "since");
    h->state = state_of(json_str(said, "state"));
    if (!repair_tries_read(json_object_get(said, "repairs"), h->repairs, &h->repairs_len))
        h->repairs_len = 0;
    if (fits)
        return h;
    free(h);
    return NULL;
}

json_t *health_status_json(const struct health_status *h)
{
    char since[CLOCK_TEXT_MAX];
    clock_rfc3339(h->since_s * 1000000, since);
    json_t *said = json_pack("{s:s, s:s, s:s}", "level", health_level_name(h->level), "reason",
                             h->reason, "since", since);
    if (*h->message)
        json_object_set_new(said, "message", json_text(h->message));
    if (*h->address)
        json_object_set_new(said, "address", json_string(h->address));
    json_object_set_new(said, "state", json_string(states[h->state]));
    if (h->repairs_len)
        json_object_set_new(said, "repairs", repair_tries_json(h->repairs, h->repairs_len));
    return said;
}

bool health_status_same(const struct health_status *a, const struct health_status *b)
{
    if (!a || !b)
        return a == b;
    return a->level == b->level && str_eq(a->reason, b->reason) && str_eq(a->address, b->address);
}
