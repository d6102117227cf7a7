#include "sim/api/conflict.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/field_set.h"

/* Paths are those of one object. */
enum { TEXT_MAX = 64 << 20 };

struct conflicts {
    json_t *causes;    /* of the refusal */
    struct buf text;   /* all conflicts, by owner */
    const char *owner; /* the current owner in words */
};

static void add_conflict(void *arg, const char *path)
{
    struct conflicts *c = arg;
    buf_printf(&c->text, "\n- %s", path);
    json_array_append_new(c->causes, json_pack("{s:s, s:o, s:o}", "reason", "FieldManagerConflict",
                                               "message", json_textf("conflict with %s", c->owner),
                                               "field", json_text(path)));
}

/* `"kubectl-edit" with subresource "status" using apps/v1`. Owned by the caller. */
static char *owner_text(const struct manager *m)
{
    bool below = *m->subresource != '\0', update = str_eq(m->operation, "Update");
    return xasprintf("\"%s\"%s%s%s%s%s", m->name, below ? " with subresource \"" : "",
                     m->subresource, below ? "\"" : "", update ? " using " : "",
                     update ? m->api_version : "");
}

static int by_owner(const void *a, const void *b)
{
    const struct manager *m = *(const struct manager *const *) a,
                         *o = *(const struct manager *const *) b;
    int order = strcmp(m->name, o->name);
    order = order ? order : strcmp(m->operation, o->operation);
    order = order ? order : strcmp(m->api_version, o->api_version);
    return order ? order : strcmp(m->subresource, o->subresource);
}

/* Adds the fields of the change that one manager owns. */
static void add_owner(struct conflicts *c, const struct manager *m, const json_t *changed,
                      const json_t *allowed)
{
    CLEANUP_JSON json_t *both = field_set_intersection(m->fields, changed);
    CLEANUP_JSON json_t *fields = field_set_difference(both, allowed);
    if (!fields)
        return;
    CLEANUP_FREE char *owner = owner_text(m);
    c->owner = owner;
    buf_printf(&c->text, "%sconflicts with %s:", json_array_size(c->causes) > 0 ? "\n" : "", owner);
    field_set_each(fields, add_conflict, c);
}

static int refuse_conflicts(const struct conflicts *c, struct refusal *r)
{
    size_t count = json_array_size(c->causes);
    const json_t *first = json_array_get(c->causes, 0);
    if (count == 0)
        return 0;
    if (count == 1)
        refuse(r, 409, "Apply failed with 1 conflict: %s: %s", json_str(first, "message"),
               json_str(first, "field"));
    else
        refuse(r, 409, "Apply failed with %zu conflicts: %s", count, buf_text(&c->text));
    r->details = json_pack("{s:O}", "causes", c->causes);
    return -1;
}

int conflict_check(const struct managers *m, const struct manager *own, const json_t *changed,
                   const json_t *allowed, struct refusal *r)
{
    struct conflicts c = { .causes = json_array(), .text = BUF_INIT(TEXT_MAX) };
    CLEANUP_FREE const struct manager **owners = xcalloc(m->len + 1, sizeof *owners);
    for (size_t i = 0; i < m->len; i++)
        owners[i] = &m->items[i];
    qsort(owners, m->len, sizeof *owners, by_owner);
    for (size_t i = 0; i < m->len; i++)
        if (owners[i] != own)
            add_owner(&c, owners[i], changed, allowed);
    int rc = refuse_conflicts(&c, r);
    json_decref(c.causes);
    buf_clear(&c.text);
    return rc;
}
