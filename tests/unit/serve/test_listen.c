#include "serve/listen.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit/support/suite.h"

static const struct row {
    const char *name;
    const char *address;
    const char *error; /* a part of it; NULL: it listens */
} rows[] = {
    { "every address", ":0", NULL },
    { "one IPv4 address", "127.0.0.1:0", NULL },
    { "no port", "127.0.0.1",
      "\"127.0.0.1\" is not an address to listen on: give IP:port, [IPv6]:port or :port" },
    { "nothing", "", "\"\" is not an address" },
    { "port out of range", ":65536", "\":65536\" is not an address" },
    { "port that is no number", ":http", "\":http\" is not an address" },
    { "a host name", "localhost:0", "\"localhost:0\" is not an address" },
    { "IPv6 without brackets", "::1:8080", "\"::1:8080\" is not an address" },
    { "brackets around something else", "[127.0.0.1]:0", "\"[127.0.0.1]:0\" is not an address" },
    { "brackets around nothing", "[]:0", "\"[]:0\" is not an address" },
    { "an address of another machine", "192.0.2.1:0", "cannot listen on 192.0.2.1:0: " },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    int fd = listen_on(row->address, "--listen", &e);
    if (!row->error) {
        assert_true(fd >= 0);
        assert_true(listen_port(fd) > 0);
        close(fd);
        return;
    }
    assert_int_equal(fd, -1);
    if (!strstr(err_msg(&e), row->error))
        fail_msg("\"%s\" does not hold \"%s\"", err_msg(&e), row->error);
}

static void taken_ports_are_named(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    int first = listen_on("127.0.0.1:0", "--listen", &e);
    assert_true(first >= 0);
    CLEANUP_FREE char *address = xasprintf("127.0.0.1:%d", listen_port(first));
    assert_int_equal(listen_on(address, "--there", &e), -1);
    CLEANUP_FREE char *want = xasprintf(
        "cannot listen on %s: Address already in use; choose another address or port with --there",
        address);
    assert_string_equal(err_msg(&e), want);
    assert_int_equal(e.kind, ERR_SYSTEM);
    close(first);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "a port that is taken is named", taken_ports_are_named, NULL);
    return suite_run(&s, "listen");
}
