/* Which of several container runtimes comes first: the one that the kubelet names. */
#include "node/inventory/runtime.h"

#include "base/mem.h"
#include "tests/unit/support/suite.h"

#define CONTAINERD "/run/containerd/containerd.sock"
#define K3S "/run/k3s/containerd/containerd.sock"
#define DOCKER "/run/docker.sock"

static const struct row {
    const char *name;
    const char *endpoint;
    size_t len;
    const char *order[3]; /* of their sockets */
} rows[] = {
    { "the kubelet names none", NULL, 3, { CONTAINERD, K3S, DOCKER } },
    { "the first", "unix://" CONTAINERD, 3, { CONTAINERD, K3S, DOCKER } },
    { "the last", "unix://" DOCKER, 3, { DOCKER, CONTAINERD, K3S } },
    { "one between", "unix://" K3S, 3, { K3S, CONTAINERD, DOCKER } },
    { "by a path alone", K3S, 3, { K3S, CONTAINERD, DOCKER } },
    { "by its old path", "unix:///var" K3S, 3, { K3S, CONTAINERD, DOCKER } },
    { "docker by way of cri-dockerd",
      "unix:///var/run/cri-dockerd.sock",
      3,
      { DOCKER, CONTAINERD, K3S } },
    { "one that is not there", "unix:///run/x.sock", 3, { CONTAINERD, K3S, DOCKER } },
    { "there is none", "unix:///run/containerd/containerd.sock", 0, { NULL } },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct runtimes runtimes = {
        .len = row->len,
        .items = { { .socket = CONTAINERD }, { .socket = K3S }, { .socket = DOCKER } }
    };
    runtime_put_first(&runtimes, row->endpoint);
    assert_int_equal(runtimes.len, row->len);
    for (size_t i = 0; i < row->len; i++)
        assert_string_equal(runtimes.items[i].socket, row->order[i]);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "runtime");
}
