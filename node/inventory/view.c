#include "node/inventory/view.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/text.h"

/* Explanations of frequent errors; others use the system's text. */
static const struct {
    int why;
    const char *reason;
} reasons[] = {
    { EFBIG, "it is larger than the read limit" },
    { E2BIG, "it has too many entries" },
    { EINVAL, "it has the wrong file type" },
    { ELOOP, "its links form a loop" },
};

static const char *view_reason_of(struct arena *a, int why)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].why == why)
            return reasons[i].reason;
    return arena_strdup(a, strerror(why));
}

void view_report(struct view *v, const char *path, const char *reason)
{
    struct troubles *t = &v->troubles;
    for (size_t i = 0; i < t->len; i++)
        if (str_eq(t->items[i].path, path))
            return;
    if (t->len < TROUBLES_MAX)
        t->items[t->len++] = (struct trouble){ part_shown(&v->arena, part_of(path), SHOWN_PATH_MAX),
                                               reason };
}

void view_clear(struct view *v)
{
    arena_free(&v->arena);
}

enum sight view_note(struct view *v, const char *path, int why)
{
    if (why == ENOENT)
        return ABSENT;
    view_report(v, path, view_reason_of(&v->arena, why));
    return UNREADABLE;
}

enum sight view_read(struct view *v, const char *path, struct buf *ret)
{
    int why = root_read(v->root, path, ret);
    return why ? view_note(v, path, why) : SEEN;
}

enum sight view_text(struct view *v, const char *path, size_t max, const char **ret)
{
    CLEANUP_BUF struct buf text = BUF_INIT(4096);
    enum sight sight = view_read(v, path, &text);
    *ret = sight == SEEN ? part_shown(&v->arena, part_of_buf(&text), max) : NULL;
    return sight;
}

enum sight view_is(struct view *v, const char *path, mode_t type)
{
    mode_t is;
    int why = root_type(v->root, path, &is);
    if (why)
        return view_note(v, path, why);
    return is == type ? SEEN : ABSENT;
}

enum sight view_folder(struct view *v, const char *path, size_t max, struct folder *ret)
{
    int why = folder_open(ret, v->root, path, max);
    return why ? view_note(v, path, why) : SEEN;
}

const char *view_next(struct view *v, struct folder *f)
{
    const char *name = folder_next(f);
    if (!name && f->why)
        view_note(v, f->path, f->why);
    return name;
}
