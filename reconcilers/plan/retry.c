#include "reconcilers/plan/retry.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/plan/records.h"

/* So much of what a person wrote is repeated, and so many revisions are named. */
enum { SHOWN_MAX = 40, NAMED_MAX = 3 };

static bool was_retried(const struct child *record)
{
    const char *key;
    json_t *value;
    json_object_foreach (record->annotations, key, value)
        if (str_has_prefix(key, ANNOTATION_RETRIED))
            return true;
    return false;
}

/* What people see in a terminal is one line. */
static const char *shown(const char *text, struct arena *a)
{
    CLEANUP_FREE char *cut = str_shortened(text, SHOWN_MAX);
    for (char *c = cut; *c; c++)
        if ((unsigned char) *c < ' ')
            *c = '?';
    return arena_strdup(a, cut);
}

static bool is_record(const struct child *c)
{
    return c->resource == RESOURCE_REVISION && c->revision && child_is_ours(c);
}

/* Whether the hash is that of a revision that failed, or did until a person asked for another try. */
static bool is_understood(const struct cluster_view *v, const char *asked)
{
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *c = v->children[i];
        if (is_record(c) && str_eq(c->revision, asked) && (record_has_failed_anywhere(c) || was_retried(c)))
            return true;
    }
    return false;
}

/* "twfs0h0r29 for driver 575.57.08, or …": what may be asked for; NULL: nothing has failed. */
static const char *what_it_takes(const struct cluster_view *v, struct arena *a)
{
    const char *takes = NULL;
    for (size_t i = 0, named = 0; i < v->child_count && named < NAMED_MAX; i++) {
        const struct child *c = v->children[i];
        if (!is_record(c) || !record_has_failed_anywhere(c))
            continue;
        const char *tier = json_str_or_empty(c->inputs, "tier"), *title = revision_title(a, c->inputs, tier);
        takes = arena_printf(a, "%s%s%s for %s", str_or_empty(takes), takes ? ", or " : "", c->revision, title ? title : tier);
        named++;
    }
    return takes;
}

const char *retry_problem(const struct cluster_view *v, struct arena *a)
{
    const char *asked = v->object ? object_annotation(v->object, POLICY_RETRY) : NULL;
    if (!asked || is_understood(v, asked))
        return NULL;
    const char *takes = what_it_takes(v, a);
    /* Where nothing has failed, the hash may be that of a revision which is gone by now. */
    if (!takes && revision_is_hash(asked))
        return NULL;
    return arena_printf(a, "the annotation " POLICY_RETRY "=%s names no revision that failed: it takes %s", shown(asked, a),
                        takes ? takes : "the hash of one, and none has failed");
}
