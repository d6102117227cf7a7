#include "tests/unit/support/thing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static struct record *project(void *arg, const json_t *object)
{
    (void) arg;
    const char *text = json_str_or_empty(object, "spec.text");
    if (str_eq(text, "-"))
        return NULL;
    struct thing *t = record_new(sizeof *t, object);
    t->text = xstrdup(text);
    return &t->head;
}

static bool same(void *arg, const struct record *a, const struct record *b)
{
    (void) arg;
    return str_eq(((const struct thing *) a)->text, ((const struct thing *) b)->text);
}

static void changed(void *arg, struct record *before, struct record *after)
{
    struct buf *log = arg;
    if (log)
        buf_printf(log, "%s%s: %s -> %s", log->len ? "; " : "", (before ? before : after)->key,
                   before ? ((struct thing *) before)->text : "nothing",
                   after ? ((struct thing *) after)->text : "nothing");
}

static void free_thing(void *arg, struct record *r)
{
    (void) arg;
    struct thing *t = (struct thing *) r;
    free(t->text);
    record_free(t);
}

struct frame_hash *thing_hash(struct record *r)
{
    return &((struct thing *) r)->hash;
}

bool thing_matters(void *arg, const char *text, size_t len)
{
    static const char none[] = "\"text\":\"-\"";
    (void) arg;
    return !memmem(text, len, none, strlen(none));
}

const struct thing *thing_get(const struct table *t, const char *name)
{
    return (const struct thing *) table_get(t, name);
}

struct table_ops thing_ops(struct buf *log)
{
    return (struct table_ops){ project, same, changed, free_thing, log };
}
