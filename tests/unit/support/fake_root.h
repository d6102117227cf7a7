/* The root folder of a machine, from a text that a person can read: sysfs, procfs, sockets, links,
 * which no repository can hold.
 *
 *     about: one sentence
 *     like: NAME                 the machine in tests/roots/NAME, of which only the differences
 *     follow
 *     pci:                       devices, as sysfs shows them; all of them again where `like` has
 *     some
 *       - {address: "0000:65:00.0", id: "10de:2330", class: "030200", numa: 0, driver: nvidia}
 *         silent: true           it answers with ones
 *         suspended: true        it sleeps
 *         of: ADDRESS            it is a virtual function of that card
 *         card: {product: …, uuid: …, minor: 0, instances: 7}     what the driver says of it in
 *         procfs
 *         gone: true             the driver says that, and the bus does not list it
 *     processes:
 *       - {pid: 4242, name: python3, cgroup: "0::/…", opens: [/dev/nvidia0]}
 *                                what is called like a device of NVIDIA's is a link to /dev/null,
 *                                where `files` has nothing else
 *     files:
 *       etc/os-release: |        a text, or one of
 *       run/x.sock: {socket: true}      link: TARGET, fifo: true, folder: true, bytes: HEX, size:
 *       N, entries: N,
 *                                unreadable: true, names: true (of a folder: its names can be read,
 *                                and nothing in it), and
 *       sys/bus: null            nothing, where `like` has something */
#ifndef OSTLER_TESTS_SUPPORT_FAKE_ROOT_H
#define OSTLER_TESTS_SUPPORT_FAKE_ROOT_H

#include <jansson.h>

#include "node/inventory/root.h"
#include "tests/unit/support/cmocka.h"

/* The folder of all machines. */
#define FAKE_ROOTS "tests/roots"

/* Makes the root that a document describes, below the temporary folder; its path, owned by the
 * caller. Fails the test when it cannot. */
char *fake_root_new(const json_t *machine);
/* The same of the machine in a folder of FAKE_ROOTS. */
char *fake_root_of(const char *name);
/* The same of nothing but these files, which are the members of a mapping, with ' in place of ". */
char *fake_root_with(const char *files);
/* Puts a shell script there, in a folder that is made where only that is missing. */
void fake_root_program(const char *root, const char *path, const char *does);
/* The same, and opens it. Here, since not every test has node/inventory. */
static inline char *fake_root_open(const char *files, struct root *ret)
{
    char *path = fake_root_with(files);
    assert_int_equal(root_open(ret, path, NULL), 0);
    return path;
}
/* The text of a file, "" if there is none; owned by the caller. */
static inline char *fake_root_text(const struct root *root, const char *path)
{
    struct buf text = BUF_INIT(1 << 16);
    root_read(root, path, &text);
    return buf_take(&text);
}
/* Takes it away again and frees the path. */
void fake_root_free(char *path);
static inline void fake_root_end(char **path)
{
    fake_root_free(*path);
}
#define CLEANUP_FAKE_ROOT CLEANUP(fake_root_end)
/* From here on until fake_root_look_ends() this process has no more rights than any user, so that
 * what is unreadable is so for root too. */
void fake_root_look_begins(void);
void fake_root_look_ends(void);

#endif
