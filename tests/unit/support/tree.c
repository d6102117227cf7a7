#include "tests/unit/support/tree.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"

char *json_quoted(const char *text)
{
    char *s = xstrdup(text);
    for (char *p = s; (p = strchr(p, '\'')); p++)
        *p = '"';
    return s;
}

json_t *tree(const char *text)
{
    CLEANUP_FREE char *s = json_quoted(text);
    CLEANUP_ERR struct err e = { 0 };
    json_t *root = json_parse(s, strlen(s), &e);
    if (!root)
        fail_msg("%s: %s", text, err_msg(&e));
    return root;
}

void assert_tree(const json_t *got, const char *want)
{
    CLEANUP_JSON json_t *root = tree(want);
    CLEANUP_FREE char *got_text = got ? json_canonical(got) : xstrdup("(nothing)");
    CLEANUP_FREE char *want_text = json_canonical(root);
    assert_string_equal(got_text, want_text);
}
