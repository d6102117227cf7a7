#include "node/inventory/runtime.h"

#include <string.h>
#include <sys/stat.h>

#include "base/cri_socket.h"
#include "base/mem.h"
#include "base/str.h"

enum { CONFIG_MAX = 256 * 1024, VERSIONS_MAX = 99 };

static const struct row {
    const char *name;
    const char *distribution;
    const char *socket;
    const char *config;
    bool config_tells; /* whether the configuration, not the socket, shows the distribution */
} rows[] = {
    { "containerd", "stock", "/run/containerd/containerd.sock", "/etc/containerd/config.toml",
      false },
    { "containerd", "k3s", "/run/k3s/containerd/containerd.sock",
      "/var/lib/rancher/k3s/agent/etc/containerd/config.toml", true },
    { "containerd", "rke2", "/run/k3s/containerd/containerd.sock",
      "/var/lib/rancher/rke2/agent/etc/containerd/config.toml", true },
    { "containerd", "microk8s", "/var/snap/microk8s/common/run/containerd.sock",
      "/var/snap/microk8s/current/args/containerd-template.toml", false },
    { "containerd", "k0s", "/run/k0s/containerd.sock", "/etc/k0s/containerd.toml", false },
    { "cri-o", "stock", "/run/crio/crio.sock", "/etc/crio/crio.conf", false },
    { "docker", "stock", "/run/docker.sock", "/etc/docker/daemon.json", false },
};
_Static_assert(ARRAY_LEN(rows) <= RUNTIMES_MAX, "every row has a place");

int runtime_config_version(struct part text)
{
    struct part line, name, value, number;
    int64_t version;
    while (part_next(&text, '\n', &line)) {
        line = part_trimmed(line);
        /* Top-level keys end at the first table. */
        if (part_begins(line, "["))
            return 0;
        if (!part_assignment(line, &name, &value) || !part_is(name, "version"))
            continue;
        return part_next(&value, '#', &number) &&
                       part_number(part_trimmed(number), VERSIONS_MAX, &version)
                   ? (int) version
                   : 0;
    }
    return 0;
}

static void look_at_config(struct view *v, const struct row *row, struct runtime *ret)
{
    CLEANUP_BUF struct buf text = BUF_INIT(CONFIG_MAX);
    const char *own = row->config_tells ? rancher_config(v, row->distribution) : NULL,
               *config = own ? own : row->config;
    enum sight sight = view_read(v, config + 1, &text);
    /* A file that cannot be read exists. */
    if (sight != ABSENT)
        ret->config = config;
    if (sight == SEEN && str_eq(row->name, "containerd"))
        ret->config_version = runtime_config_version(part_of_buf(&text));
}

void runtime_look(struct view *v, struct runtimes *ret)
{
    *ret = (struct runtimes){ .known = view_is(v, "run", S_IFDIR) == SEEN };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct runtime found = { .name = rows[i].name,
                                 .distribution = rows[i].distribution,
                                 .socket = rows[i].socket };
        enum sight sight = view_is(v, rows[i].socket + 1, S_IFSOCK);
        ret->known &= sight != UNREADABLE;
        if (sight != SEEN)
            continue;
        look_at_config(v, &rows[i], &found);
        if (found.config || !rows[i].config_tells)
            ret->items[ret->len++] = found;
    }
}

void runtime_put_first(struct runtimes *runtimes, const char *endpoint)
{
    const char *socket = cri_socket(endpoint);
    size_t at = 0;
    while (at < runtimes->len && !str_eq(runtimes->items[at].socket, socket))
        at++;
    if (at == runtimes->len)
        return;
    const struct runtime used = runtimes->items[at];
    memmove(&runtimes->items[1], &runtimes->items[0], at * sizeof used);
    runtimes->items[0] = used;
}
