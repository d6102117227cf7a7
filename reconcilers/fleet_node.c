/* One node on the fleet page: its GpuNode as it would be written now, and its story, the same that
 * `kubectl gpu explain` tells. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/fleet_fields.h"
#include "reconcilers/fleet_row.h"
#include "reconcilers/fleet_status.h"
#include "reconcilers/fleet_story.h"
#include "reconcilers/view/explain.h"

/* Width of the story's lines on the page. */
enum { TEXT_WIDTH = 100 };

/* ---- the commands to copy */

/* Commands that the story may name, for a node. */
static const char *const offered[] = {
    "kubectl gpu release %s",
    "kubectl gpu repair %s",
    "kubectl uncordon %s",
    "kubectl gpu repair %s --cancel",
};

static bool is_named(const json_t *next, const char *command)
{
    CLEANUP_FREE char *end = xasprintf(": %s", command);
    JSON_EACH (step, next)
        if (str_has_suffix(json_str_or_empty(step, "text"), end))
            return true;
    return false;
}

static json_t *commands_json(const char *name, const json_t *explained)
{
    json_t *commands = json_array();
    if (!snapshot_is_name(name))
        return commands;
    json_array_append_new(commands, json_textf("kubectl gpu explain %s", name));
    for (size_t i = 0; i < ARRAY_LEN(offered); i++) {
        const char *place = strstr(offered[i], "%s");
        CLEANUP_FREE char *command = xasprintf("%.*s%s%s", (int) (place - offered[i]), offered[i],
                                               name, place + strlen("%s"));
        if (is_named(json_object_get(explained, "next"), command))
            json_array_append_new(commands, json_text(command));
    }
    return commands;
}

/* ---- what to leave out if an answer would be too large */

/* All but some entries of a list: the newest stay, or the first. A member: all of it. */
static const struct {
    const char *path;
    size_t keep;
    bool newest;
} cuts[] = {
    { "explain.story", 24, true },
    { "explain.gpuPods", 8, false },
    { "explain.operandPods", 8, false },
    { "status.inventory.faults", 8, true },
    { "explain.story", 8, true },
    { "explain.waitingFor", 3, false },
    { "status.waitingFor", 3, false },
    { "explain.lastWords", 0, false },
    { "explain.gpuPods", 3, false },
    { "explain.health", 0, false },
    { "explain.waitingFor", 0, false },
    { "explain.story", 2, true },
    { "status.lastWords", 0, false },
    { "status.inventory", 0, false },
    { "status.waitingFor", 1, false },
    { "explain", 0, false },
    { "status.waitingFor", 0, false },
    { "status.message", 0, false },
    { "status.health", 0, false },
    { "status.next", 0, false },
    { "status", 0, false },
};

static void cut(json_t *answer, size_t which)
{
    const char *path = cuts[which].path, *dot = strrchr(path, '.');
    CLEANUP_FREE char *above = dot ? xstrndup(path, (size_t) (dot - path)) : xstrdup("");
    json_t *list = json_at(answer, path);
    if (!cuts[which].keep)
        json_object_del(json_at(answer, above), dot ? dot + 1 : path);
    while (cuts[which].keep && json_array_size(list) > cuts[which].keep)
        json_array_remove(list, cuts[which].newest ? 0 : cuts[which].keep);
}

/* The text is made of what stays. */
static void tell(json_t *answer)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    const struct paint paint = { .whole = true, .width = TEXT_WIDTH };
    const json_t *explained = json_object_get(answer, "explain");
    if (explained)
        explain_print(explained, &paint, &text);
    json_object_set_new(answer, "text", json_text(buf_text(&text)));
    buf_clear(&text);
}

static size_t size_of(const json_t *answer)
{
    return json_dumpb(answer, NULL, 0, JSON_COMPACT);
}

static void fit(json_t *answer)
{
    tell(answer);
    for (size_t i = 0; i < ARRAY_LEN(cuts) && size_of(answer) > FLEET_NODE_MAX; i++) {
        json_object_set_new(answer, "cut",
                            json_text("cut, for want of room: kubectl gpu explain shows all"));
        cut(answer, i);
        tell(answer);
    }
}

/* ---- all of it */

static json_t *status_of(const struct cluster *c, const struct node_slot *slot, const char *now)
{
    CLEANUP_ARENA struct arena a = { 0 };
    json_t *status = fleet_status(c, slot, now), *inventory = fleet_inventory(c, slot, &a);
    if (inventory)
        json_object_set_new(status, "inventory", inventory);
    return status;
}

bool fleet_node(const struct fleet_source *s, const char *name, struct buf *out)
{
    const struct cluster *c = s->cluster;
    const struct node_slot *slot = map_get(&c->slots, name);
    if (!slot || !fleet_shows(slot))
        return false;
    int64_t now_us = cluster_wall_us(c);
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(now_us, now);
    CLEANUP_JSON json_t *status = status_of(c, slot, now);
    CLEANUP_JSON json_t *story = fleet_story(s, slot, status, now);
    json_t *explained = explain_view(story, name, now_us);
    CLEANUP_JSON json_t *whole = json_pack("{s:s, s:o, s:O, s:o, s:s, s:o}", "asOf", now, "name",
                                           json_text(name), "status", status, "explain", explained,
                                           "text", "", "commands", commands_json(name, explained));
    CLEANUP_JSON json_t *picked = fleet_fields_pick(whole, fleet_node_fields);
    fit(picked);
    CLEANUP_FREE char *text = json_compact(picked);
    buf_str(out, text);
    return true;
}
