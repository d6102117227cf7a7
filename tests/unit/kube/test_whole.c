#include "kube/whole.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define LIST(items) "{'kind':'L','metadata':{'resourceVersion':'7'},'items':[" items "],'end':{}}"

/* What came of a stream: "w" and the text of an item that was taken whole, "s" and the text of one
 * from the splitter. */
struct run {
    struct buf items;
};

/* Items with "take" in them are taken. */
static bool take_whole(void *arg, const char *text, size_t len)
{
    struct run *r = arg;
    bool takes = memmem(text, len, "take", strlen("take"));
    if (takes)
        buf_printf(&r->items, "w%.*s\n", (int) len, text);
    return takes;
}

static int take_split(void *arg, const char *text, size_t len, struct err *e)
{
    (void) e;
    struct run *r = arg;
    buf_printf(&r->items, "s%.*s\n", (int) len, text);
    return 0;
}

/* Feeds a list in pieces of this size; returns what came out, owned by the caller. */
static char *feed(const char *text, size_t piece, int *ret_rc)
{
    static const char *const left_out[] = { "drop", NULL };
    static const struct split_view view = { .paths = left_out };
    struct run r = { .items = BUF_INIT(16 << 20) };
    CLEANUP_ERR struct err e = { 0 };
    struct split s;
    struct whole w;
    size_t len = strlen(text);
    split_init(&s, SPLIT_LIST, &view, take_split, &r);
    whole_init(&w, &s, take_whole, &r);
    *ret_rc = 0;
    for (size_t i = 0; i < len && *ret_rc == 0; i += piece) {
        size_t n = piece < len - i ? piece : len - i;
        char *copy = memcpy(xcalloc(n, 1), text + i, n); /* a byte too far is seen */
        *ret_rc = whole_feed(&w, copy, n, &e);
        free(copy);
    }
    if (*ret_rc == 0)
        buf_printf(&r.items, "%s%s", buf_text(split_envelope(&s)), split_complete(&s) ? "" : "…");
    whole_clear(&w);
    split_clear(&s);
    return buf_take(&r.items);
}

#define ENVELOPE "{'kind':'L','metadata':{'resourceVersion':'7'},'items':[],'end':{}}"

static const struct row {
    const char *name, *text, *want; /* NULL: an error */
} rows[] = {
    { "no items", LIST(""), ENVELOPE },
    { "items that are taken, and others",
      LIST("{'a':'take','drop':1},{'b':1,'drop':{'x':[2]}},{'c':{'d':'take'}}"),
      "w{'a':'take','drop':1}\ns{'b':1}\nw{'c':{'d':'take'}}\n" ENVELOPE },
    { "brackets and quotes in texts", LIST("{'a':'take}\\'}'},{'b':'{\\\\'}"),
      "w{'a':'take}\\'}'}\ns{'b':'{\\\\'}\n" ENVELOPE },
    { "spaces between items", LIST(" {'a':'take'} ,\n{'b':2} "),
      "w{'a':'take'}\ns{'b':2}\n" ENVELOPE },
    { "a list of objects elsewhere", "{'other':[{'a':'take'}],'items':[{'b':'take'}]}",
      "w{'b':'take'}\n{'other':[{'a':'take'}],'items':[]}" },
    { "an item that is no object", LIST("1"), NULL },
    { "an end in an item", "{'items':[{'a':'take'},{'b", "w{'a':'take'}\n{'items':[…" },
    { "a wrong bracket", LIST("{'a':1]"), NULL },
};

/* However it is cut. */
static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_FREE char *want = row->want ? json_quoted(row->want) : NULL;
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        int rc;
        CLEANUP_FREE char *got = feed(text, piece, &rc);
        assert_int_equal(rc, want ? 0 : -1);
        if (want)
            assert_string_equal(got, want);
    }
}

/* A list with an item of so many bytes between two others; owned by the caller. */
static char *list_with(size_t bytes)
{
    static const char begin[] = "{\"a\":\"take", end[] = "\"}";
    size_t fill = bytes - strlen(begin) - strlen(end);
    char *text = xcalloc(bytes + 100, 1), *at = stpcpy(text, "{\"items\":[{\"x\":\"take\"},");
    at = stpcpy(at, begin);
    memset(at, 'y', fill);
    at = stpcpy(at + fill, end);
    stpcpy(at, ",{\"z\":\"take\"}]}");
    return text;
}

static char kind_of(const char *items, const char *name)
{
    const char *at = strstr(items, name);
    return at ? at[-2] : '-';
}

static void an_item_that_is_too_long_goes_to_the_splitter(void **state)
{
    (void) state;
    static const size_t pieces[] = { 1000, 16 << 10, WHOLE_MAX, 1 << 20 };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        int rc;
        CLEANUP_FREE char *longest = list_with(WHOLE_MAX), *longer = list_with(WHOLE_MAX + 1);
        CLEANUP_FREE char *whole = feed(longest, pieces[i], &rc), *split;
        assert_int_equal(rc, 0);
        split = feed(longer, pieces[i], &rc);
        assert_int_equal(rc, 0);
        assert_int_equal(kind_of(whole, "\"a\""), 'w');
        /* One that comes in one piece takes no memory. */
        assert_int_equal(kind_of(split, "\"a\""), pieces[i] > WHOLE_MAX ? 'w' : 's');
        assert_int_equal(kind_of(split, "\"x\""), 'w');
        assert_int_equal(kind_of(split, "\"z\""), 'w');
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "an item that is too long goes to the splitter",
              an_item_that_is_too_long_goes_to_the_splitter, NULL);
    return suite_run(&s, "whole");
}
