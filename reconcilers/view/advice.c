#include "reconcilers/view/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* A transient state that lasts this long needs attention. */
enum { LONG_S = 15 * 60, ADVICE_MAX = 4096 };

/* A sentence from the table of reasons for a terminal: without Markdown, and with each `word`
 * replaced. */
static char *filled(const char *text, const char *word, const char *with)
{
    struct buf b = BUF_INIT(ADVICE_MAX);
    while (*text) {
        if (str_has_prefix(text, word)) {
            buf_printf(&b, "%.253s", with);
            text += strlen(word);
            continue;
        }
        if (*text != '`')
            buf_printf(&b, "%c", *text);
        text++;
    }
    return buf_take(&b);
}

enum reason advice_reason(const char *word)
{
    static const enum reason numbered[] = { REASON_XID, REASON_SXID };
    for (size_t i = 0; word && i < ARRAY_LEN(numbered); i++) {
        const char *text = reason_text(numbered[i]);
        size_t n = strlen(text);
        if (str_has_prefix(word, text) && word[n] &&
            strspn(word + n, "0123456789") == strlen(word + n))
            return numbered[i];
    }
    return reason_parse(word);
}

char *advice_of_node(const char *node, const char *state, enum reason reason)
{
    const char *todo = str_eq(state, "Lost") ? reason_todo(REASON_NODE_NOT_READY)
                                             : reason_todo(reason);
    return filled(todo ? todo : reason_todo(REASON_OTHER), "NODE", node);
}

char *advice_of_rollout(enum reason reason, const char *plan)
{
    bool none = reason == REASON_OTHER || reason_class(reason) == REASON_PROGRESS;
    const char *todo = none ? NULL : reason_todo(reason);
    return todo ? filled(todo, "PLAN", str_or_empty(plan)) : NULL;
}

bool advice_is_stuck(const char *state, enum reason reason, long long seconds)
{
    static const char *const at_once[] = { "Failed", "Unsupported", "Lost", NULL };
    static const char *const quiet[] = { "Ready", "Unhealthy", "ForeignStack", "Unmanaged", NULL };
    if (str_is_any_of(state, at_once))
        return true;
    if (str_is_any_of(state, quiet))
        return reason == REASON_GPUS_MISSING;
    return seconds >= LONG_S;
}
