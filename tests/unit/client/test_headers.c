#include "client/headers.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

static const struct row {
    const char *name; /* the line */
    int64_t retry_after_ms, date_s;
    const char *warning;
} rows[] = {
    { "Retry-After: 3\r\n", 3000, 0, NULL },
    { "retry-after:3", 3000, 0, NULL },
    { "Retry-After: 60", 60000, 0, NULL },
    { "Retry-After: 61", 60000, 0, NULL },
    { "Retry-After: 3600", 60000, 0, NULL },
    { "Retry-After: 2147483647", 60000, 0, NULL },
    { "Retry-After: -1", -1, 0, NULL },
    { "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", -1, 0, NULL },
    { "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", -1, 784111777, NULL },
    { "date: Fri, 20 Nov 2026 10:00:00 GMT", -1, 1795168800, NULL },
    { "Date: Fri, 20 Nov 2026 10:00:00 CET", -1, 0, NULL },
    { "Date: 2026-11-20T10:00:00Z", -1, 0, NULL },
    { "Date:", -1, 0, NULL },
    { "Warning: 299 - \"old\"", -1, 0, "old" },
    { "HTTP/1.1 200 OK", -1, 0, NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct headers h = { .retry_after_ms = -1 };
    assert_true(headers_add(&h, row->name, strlen(row->name)));
    assert_int_equal(h.retry_after_ms, row->retry_after_ms);
    assert_int_equal(h.date_s, row->date_s);
    assert_int_equal(h.warning != NULL, row->warning != NULL);
    if (row->warning)
        assert_string_equal(h.warning, row->warning);
    headers_clear(&h);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "headers");
}
