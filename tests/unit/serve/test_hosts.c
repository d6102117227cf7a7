#include "serve/hosts.h"

#include "tests/unit/support/suite.h"

static const struct row {
    const char *name;
    const char *host;
    const char *more;
    bool allowed;
} rows[] = {
    { "localhost", "localhost", "", true },
    { "localhost with a port", "localhost:8081", "", true },
    { "capital letters", "LocalHost:1", "", true },
    { "the loopback address", "127.0.0.1:65535", "", true },
    { "the loopback address of IPv6", "[::1]", "", true },
    { "the loopback address of IPv6 with a port", "[::1]:8081", "", true },
    { "no Host at all", NULL, "", false },
    { "an empty Host", "", "", false },
    { "a site whose name leads here", "evil.example:8081", "", false },
    { "a name that begins like an allowed one", "localhost.evil.example", "", false },
    { "an address that begins like an allowed one", "127.0.0.1.evil.example:80", "", false },
    { "a name that ends like an allowed one", "evil-localhost", "", false },
    { "another loopback address", "127.0.0.2", "", false },
    { "a dot at the end", "localhost.", "", false },
    { "a user", "localhost@evil.example", "", false },
    { "a colon without a port", "localhost:", "", false },
    { "a port that is no number", "localhost:http", "", false },
    { "two ports", "localhost:80:80", "", false },
    { "a port that is too long", "localhost:123456", "", false },
    { "only a port", ":8081", "", false },
    { "IPv6 without brackets", "::1", "", false },
    { "an open bracket", "[::1", "", false },
    { "something behind the bracket", "[::1]x", "", false },
    { "a list", "localhost,evil.example", "", false },
    { "a name from the list", "fleet.example.com", "a.example,fleet.example.com", true },
    { "the same with a port", "A.Example:443", "a.example,fleet.example.com", true },
    { "localhost beside a list", "localhost", "a.example", true },
    { "a part of a name from the list", "example", "a.example", false },
    { "two names from the list", "a.example,b.example", "a.example,b.example", false },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    assert_int_equal(hosts_allow(row->host, row->more), row->allowed);
}

static const struct list_row {
    const char *name;
    const char *list;
    bool valid;
} lists[] = {
    { "no name", "", true },
    { "a name", "fleet.example.com", true },
    { "names and addresses", "fleet,10.0.0.7,[fd00::7]", true },
    { "a name with a port", "fleet.example.com:8443", false },
    { "a URL", "https://fleet.example.com", false },
    { "a star", "*", false },
    { "nothing between two commas", "a,,b", false },
    { "a comma at the end", "a,", false },
    { "a comma at the beginning", ",a", false },
    { "a space", "a, b", false },
    { "a dot at the end", "a.", false },
    { "a hyphen at the beginning", "-a", false },
    { "an open bracket", "[::1", false },
};

static void check_list(void **state)
{
    const struct list_row *row = *state;
    assert_int_equal(hosts_are_valid(row->list), row->valid);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    SUITE_ROWS(&s, check_list, lists);
    return suite_run(&s, "hosts");
}
