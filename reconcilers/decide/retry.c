#include "reconcilers/decide/retry.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"

/* Length of user text that is repeated, and number of revisions that are named. */
enum { SHOWN_MAX = 40, NAMED_MAX = 3 };

/* The first request for a revision is its hash, the second has the number 2. After the maximum it
 * is the hash again. */
enum { NUMBER_MAX = 999999 };

/* ---- values */

/* The number of a request for the revision; 0: it is none. */
static int64_t number_of(const char *value, const char *hash)
{
    int64_t number = 1;
    if (!value || !str_has_prefix(value, hash))
        return 0;
    const char *rest = value + strlen(hash);
    if (!*rest)
        return number;
    return *rest == '.' && str_parse_int(rest + 1, 1, NUMBER_MAX, &number) ? number : 0;
}

bool retry_asks(const char *value, const char *hash)
{
    return number_of(value, hash) > 0;
}

/* When a request was handled, in epoch seconds, and which; 0: none. */
static int64_t read_answer(const char *text, const char *hash, const char **ret_value)
{
    const char *space = strchr(text, ' ');
    CLEANUP_FREE char *time = xstrndup(text, space ? (size_t) (space - text) : strlen(text));
    int64_t us = clock_parse_written(time);
    *ret_value = space ? space + 1 : hash;
    return us > 0 && retry_asks(*ret_value, hash) ? us / 1000000 : 0;
}

int64_t retry_answered_s(const struct child *record, const char *pool)
{
    CLEANUP_FREE char *key = xasprintf(ANNOTATION_RETRIED "%s", pool);
    const char *text = json_key(record->annotations, key), *value;
    return text ? read_answer(text, record->revision, &value) : 0;
}

bool retry_was_answered(const json_t *annotations, const char *hash, const char *value)
{
    const char *answered;
    JSON_EACH_MEMBER (key, text, annotations)
        if (str_has_prefix(key, ANNOTATION_RETRIED) &&
            read_answer(str_or_empty(json_string_value(text)), hash, &answered) &&
            (!value || str_eq(answered, value)))
            return true;
    return false;
}

const char *retry_value(const json_t *annotations, const char *hash, struct arena *a)
{
    const char *answered;
    int64_t last = 0;
    JSON_EACH_MEMBER (key, text, annotations)
        if (str_has_prefix(key, ANNOTATION_RETRIED) &&
            read_answer(str_or_empty(json_string_value(text)), hash, &answered) &&
            number_of(answered, hash) > last)
            last = number_of(answered, hash);
    return last && last < NUMBER_MAX ? arena_printf(a, "%s.%lld", hash, (long long) last + 1)
                                     : arena_strdup(a, hash);
}

/* ---- invalid requests */

/* Terminal output is one line. */
static const char *retry_shown(const char *text, struct arena *a)
{
    CLEANUP_FREE char *cut = str_shortened(text, SHOWN_MAX);
    for (char *c = cut; *c; c++)
        if ((unsigned char) *c < ' ')
            *c = '?';
    return arena_strdup(a, cut);
}

/* Whether the hash is that of a revision that failed, or did until a user's retry. */
static bool is_understood(const struct cluster_view *v, const char *asked)
{
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *c = v->children[i];
        if (cluster_is_record(c, NULL) && c->revision && retry_asks(asked, c->revision) &&
            (child_has_failed(c) || retry_was_answered(c->annotations, c->revision, NULL)))
            return true;
    }
    return false;
}

/* Whether it may be that of a revision that no longer exists. */
static bool is_of_some_revision(const char *asked)
{
    CLEANUP_FREE char *hash = xstrndup(asked, strcspn(asked, "."));
    return revision_is_hash(hash) && retry_asks(asked, hash);
}

/* "twfs0h0r29 for driver 575.57.08, or …": the valid values; NULL: nothing has failed. */
static const char *what_it_takes(const struct cluster_view *v, struct arena *a)
{
    const char *takes = NULL;
    for (size_t i = 0, named = 0; i < v->child_count && named < NAMED_MAX; i++) {
        const struct child *c = v->children[i];
        if (!cluster_is_record(c, NULL) || !c->revision || !child_has_failed(c))
            continue;
        const char *tier = json_str_or_empty(c->inputs, "tier"),
                   *title = revision_title(a, c->inputs, tier);
        takes = arena_printf(a, "%s%s%s for %s", str_or_empty(takes), takes ? ", or " : "",
                             retry_value(c->annotations, c->revision, a), title ? title : tier);
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
    if (!takes && is_of_some_revision(asked))
        return NULL;
    return arena_printf(
        a, "the annotation " POLICY_RETRY "=%s names no revision that failed: it takes %s",
        retry_shown(asked, a), takes ? takes : "the hash of one, and none has failed");
}
