#include "reconcilers/model/node_stages.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"

/* No machine takes a year. */
enum { LASTS_MAX_S = 365 * 24 * 3600 };

static const char *const names[STAGE_COUNT] = {
    [STAGE_IMAGES] = "images",
    [STAGE_DRIVER] = "driver",
    [STAGE_REGISTERED] = "registered",
    [STAGE_PROVEN] = "proven",
};

const char *node_stage_name(enum node_stage stage)
{
    return names[stage];
}

bool node_stages_run(const struct node_stages *s)
{
    return s->seen_s && !s->reached[STAGE_PROVEN] && !(s->missed >> STAGE_PROVEN & 1);
}

void node_stages_read(const json_t *status, struct node_stages *ret)
{
    const json_t *said = json_object_get(status, GPU_NODE_STAGES);
    const char *seen = json_str_or_empty(said, "seen");
    int64_t us = strlen(seen) < CLOCK_TEXT_MAX ? clock_parse_rfc3339(seen) : -1;
    *ret = (struct node_stages){ 0 };
    if (us <= 0 || us / 1000000 > UINT32_MAX)
        return;
    ret->seen_s = (uint32_t) (us / 1000000);
    for (int i = 0; i < STAGE_COUNT; i++) {
        int64_t after_s = json_int(said, names[i], -1);
        if (after_s >= 0 && after_s <= LASTS_MAX_S)
            ret->reached[i] = (uint32_t) after_s + 1;
    }
}

json_t *node_stages_json(const struct node_stages *s)
{
    char seen[CLOCK_TEXT_MAX];
    if (!s->seen_s)
        return NULL;
    clock_rfc3339((int64_t) s->seen_s * 1000000, seen);
    json_t *said = json_pack("{s:s}", "seen", seen);
    for (int i = 0; i < STAGE_COUNT; i++)
        if (s->reached[i])
            json_object_set_new(said, names[i], json_integer(s->reached[i] - 1));
    return said;
}
