#include "reconcilers/model/policy_problems.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"

/* Longest path and sentence that are kept: what a status can hold. */
#define FIELD_LENGTH_MAX 480
#define MESSAGE_LENGTH_MAX 480
/* Longest name shown in a path; unknown names can have any length. */
#define NAME_LENGTH_MAX 64

static void policy_problems_add_place(struct buf *b, const struct policy_place *place)
{
    if (place->up)
        policy_problems_add_place(b, place->up);
    CLEANUP_FREE char *name = str_shortened(str_or_empty(place->name), NAME_LENGTH_MAX);
    if (!place->name)
        buf_printf(b, "[%zu]", place->index);
    else
        buf_printf(b, place->key ? "[%s]" : place->up ? ".%s" : "%s", name);
}

/* A truncated copy without control characters; takes the text. */
static char *cleaned(char *text_steal, size_t max)
{
    CLEANUP_FREE char *text = text_steal;
    char *copy = str_shortened(text, max);
    for (char *p = copy; *p; p++)
        if ((unsigned char) *p < 0x20 || *p == 0x7f)
            *p = '?';
    return copy;
}

/* "spec.pools[1].driver.version"; the caller frees it. */
static char *place_text(const struct policy_place *place)
{
    CLEANUP_BUF struct buf b = BUF_INIT(4096);
    policy_problems_add_place(&b, place);
    return cleaned(buf_take(&b), FIELD_LENGTH_MAX);
}

void policy_problem_add(const struct policy_place *place, const char *fmt, ...)
{
    struct policy_problems *problems = place->problems;
    if (problems->len == POLICY_PROBLEMS_MAX) {
        problems->omitted++;
        return;
    }
    char *message = FORMATTED(fmt);
    problems->items = xreallocarray(problems->items, problems->len + 1, sizeof *problems->items);
    problems->items[problems->len++] = (struct policy_problem){
        .field = place_text(place),
        .message = cleaned(message, MESSAGE_LENGTH_MAX),
    };
}

size_t policy_problems_count(const struct policy_problems *problems)
{
    return problems->len + problems->omitted;
}

char *policy_problems_text(const struct policy_problems *problems)
{
    CLEANUP_BUF struct buf b = BUF_INIT(POLICY_PROBLEMS_MAX * 1024);
    for (size_t i = 0; i < problems->len; i++)
        buf_printf(&b, "%s%s: %s", i > 0 ? "; " : "", problems->items[i].field,
                   problems->items[i].message);
    if (problems->omitted > 0)
        buf_printf(&b, "; and %zu more", problems->omitted);
    return buf_take(&b);
}

void policy_problems_clear(struct policy_problems *problems)
{
    for (size_t i = 0; i < problems->len; i++) {
        free(problems->items[i].field);
        free(problems->items[i].message);
    }
    free(problems->items);
    *problems = (struct policy_problems){ 0 };
}
