/* Another operator: writes its own label, annotation and taint on nodes at random times. It reads a
 * node, waits, and writes the whole object back with the version that it read. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/objects.h"

/* From read to write; a write in between makes it start again. */
static const struct spec_delay thinking = { 5, 400 };

struct other_operator {
    struct actors *a;
    struct agenda reads;  /* nodes to read */
    struct agenda writes; /* nodes that it has read */
    json_t *read;         /* the objects read, by node name */
    char *label, *annotation, *taint;
    int64_t count;
};

static void other_operator_commit(void *self, const struct api_commit *c)
{
    struct other_operator *o = self;
    if (c->kind == o->a->kinds.node && c->after && !c->before)
        agenda_note(&o->reads, object_name(c->after));
}

static void other_operator_look(void *self, const char *name)
{
    struct other_operator *o = self;
    json_t *node = api_get(o->a->api, o->a->kinds.node, "", name);
    if (!node)
        return;
    json_object_set(o->read, name, node);
    agenda_note(&o->writes, name);
}

/* Toggles its taint; keeps those of others as read. */
static json_t *turned_taints(const struct other_operator *o, const json_t *node)
{
    json_t *taints = json_array();
    bool was_there = false;
    JSON_EACH (t, json_at(node, "spec.taints")) {
        bool own = str_eq(json_str(t, "key"), o->taint);
        was_there = was_there || own;
        if (!own)
            json_array_append(taints, t);
    }
    if (!was_there)
        json_array_append_new(taints, json_pack("{s:s, s:s, s:s}", "key", o->taint, "value", "true",
                                                "effect", "PreferNoSchedule"));
    return taints;
}

static json_t *with_entry(const json_t *map, const char *key, int64_t count)
{
    json_t *out = map ? json_copy((json_t *) map) : json_object();
    json_object_set_new(out, key, json_textf("%lld", (long long) count));
    return out;
}

static void write_back(void *self, const char *name)
{
    struct other_operator *o = self;
    CLEANUP_JSON json_t *read = json_incref(json_object_get(o->read, name));
    json_object_del(o->read, name);
    o->count++;
    json_t *metadata = json_copy(json_object_get(read, "metadata")),
           *spec = json_object_get(read, "spec") ? json_copy(json_object_get(read, "spec"))
                                                 : json_object();
    json_object_set_new(metadata, "labels",
                        with_entry(json_object_get(metadata, "labels"), o->label, o->count));
    json_object_set_new(
        metadata, "annotations",
        with_entry(json_object_get(metadata, "annotations"), o->annotation, o->count));
    json_object_set_new(spec, "taints", turned_taints(o, read));
    CLEANUP_JSON json_t *node = json_copy(read);
    json_object_set_new(node, "metadata", metadata);
    json_object_set_new(node, "spec", spec);
    bool done = api_update(o->a->api, o->a->world.other_operator.name, o->a->kinds.node, "", node,
                           NULL) == 0;
    int64_t until = o->a->world.other_operator.until_ms;
    if (!done)
        agenda_after(&o->reads, name, 0);
    else if (until == 0 || o->a->sim->now_ms < until)
        agenda_note(&o->reads, name);
}

static void other_operator_begin(void *self)
{
    struct other_operator *o = self;
    const struct spec_other_operator *spec = &o->a->world.other_operator;
    o->read = json_object();
    o->label = xasprintf("%s/state", spec->name);
    o->annotation = xasprintf("%s/last", spec->name);
    o->taint = xasprintf("%s/attention", spec->name);
    o->reads.delay = spec->period;
    o->writes.delay = thinking;
}

static void other_operator_end(void *self)
{
    struct other_operator *o = self;
    json_decref(o->read);
    free(o->label);
    free(o->annotation);
    free(o->taint);
}

const struct actor other_operator_actor = {
    .size = sizeof(struct other_operator),
    .agendas = { AGENDA(struct other_operator, reads, "other operator", controller,
                        other_operator_look),
                 AGENDA(struct other_operator, writes, "other operator thinks", controller,
                        write_back) },
    .begin = other_operator_begin,
    .commit = other_operator_commit,
    .end = other_operator_end,
};
