/* Reading below a root that wants to lead out of it, hold the reader up or drown it. */
#include "node/inventory/root.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "node/inventory/view.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* Enough that some meet a change. */
enum { RENAME_READS = 20000 };

/* Links of all kinds. What they must never reach is a file outside, whose place is not known when
 * this is written: any file called os-release. */
#define ROOT                                                                                       \
    "{'files':{'inside':'inside','etc/os-release':'ours','a/b/c/inside':'deep','a/b/"              \
    "loop':{'link':'loop'},"                                                                       \
    "'self':{'link':'.'},'up':{'link':'../../../../../../../../etc/"                               \
    "os-release'},'absolute':{'link':'/etc/os-release'},"                                          \
    "'folder-out':{'link':'/'},'way':{'link':'folder-out/a/../etc'},'a/b/back':{'link':'../../"    \
    "inside'},"                                                                                    \
    "'one':{'link':'two'},'two':{'link':'one'},'dangling':{'link':'/proc/self/"                    \
    "status'},'pipe':{'fifo':true},"                                                               \
    "'socket':{'socket':true},'device':{'link':'/dev/"                                             \
    "zero'},'large':{'size':1000000000000},'secret':{'unreadable':true},"                          \
    "'locked':{'folder':true,'unreadable':true},'crowd':{'entries':50},'text-link':{'link':'"      \
    "libnvidia-ml.so.580.95.05'},"                                                                 \
    "'empty':''}}"

static char *root_path;
static struct root root;

static int set_up(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *machine = tree(ROOT);
    root_path = fake_root_new(machine);
    return root_open(&root, root_path, NULL);
}

static int tear_down(void **state)
{
    (void) state;
    root_close(&root);
    fake_root_free(root_path);
    return 0;
}

/* ---- what is read */

static const struct read_row {
    const char *name;
    const char *path;
    int why;
    const char *text;
} read_rows[] = {
    { "a file", "inside", 0, "inside" },
    { "a file, by a path from the root", "/inside", 0, "inside" },
    { "an empty file", "empty", 0, "" },
    { "what is not there", "nowhere", ENOENT, "" },
    { "what is not there, in a folder that is not there", "no/where", ENOENT, "" },
    { "below a file", "inside/x", ENOTDIR, "" },
    { "an absolute link begins at the root", "absolute", 0, "ours" },
    { "a link ends going up at the root", "up", 0, "ours" },
    { "the same of a path", "../../../../etc/os-release", 0, "ours" },
    { "links on the way", "way/os-release", 0, "ours" },
    { "a folder that links to itself", "self/self/self/inside", 0, "inside" },
    { "a link upwards", "a/b/back", 0, "inside" },
    { "up and down", "a/b/../b/c/./inside", 0, "deep" },
    { "a link into what is there outside alone", "dangling", ENOENT, "" },
    { "a link to a device that is there outside alone", "device", ENOENT, "" },
    { "a link to itself", "a/b/loop", ELOOP, "" },
    { "two links to each other", "one", ELOOP, "" },
    { "a FIFO does not hold the reader up", "pipe", EINVAL, "" },
    { "a socket", "socket", EINVAL, "" },
    { "a folder", "a", EINVAL, "" },
    { "a file without read permission", "secret", EACCES, "" },
    { "in a folder without search permission", "locked/x", EACCES, "" },
    { "a file larger than the buffer", "large", EFBIG, "" },
};

static void check_read(void **state)
{
    const struct read_row *row = *state;
    CLEANUP_BUF struct buf text = BUF_INIT(65536);
    fake_root_look_begins();
    int why = root_read(&root, row->path, &text);
    fake_root_look_ends();
    assert_int_equal(why, row->why);
    if (why == 0)
        assert_string_equal(buf_text(&text), row->text);
}

/* Both ways to resolve a path come to the same place, or to the same error. */
static void check_both_ways(void **state)
{
    const struct read_row *row = *state;
    fake_root_look_begins();
    for (int follow = 0; follow < 2; follow++) {
        struct stat a = { 0 }, b = { 0 };
        int kernel, why_kernel;
        do { /* a change elsewhere on this machine */
            kernel = resolve_by_kernel(root.fd, row->path, follow);
            why_kernel = errno;
        } while (kernel < 0 && why_kernel == EAGAIN);
        int hand = resolve_by_hand(root.fd, row->path, follow), why_hand = errno;
        bool is_there = kernel >= 0 && fstat(kernel, &a) == 0;
        assert_int_equal(is_there, hand >= 0 && fstat(hand, &b) == 0);
        if (is_there)
            assert_true(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
        else if (why_kernel != ENOSYS && why_kernel != EPERM)
            assert_int_equal(why_kernel, why_hand);
        if (kernel >= 0)
            close(kernel);
        if (hand >= 0)
            close(hand);
    }
    fake_root_look_ends();
}

/* Another process renames folders all the time, as container runtimes do: reads stay the same. */
static void check_while_others_rename(void **state)
{
    (void) state;
    CLEANUP_FREE char *from = xasprintf("%s/a/b/c/moving", root_path),
                      *to = xasprintf("%s/a/moved", root_path);
    assert_int_equal(mkdir(from, 0755), 0);
    pid_t child = fork();
    while (child == 0)
        if (rename(from, to) < 0 || rename(to, from) < 0)
            _exit(1);
    int failures = 0;
    for (int i = 0; i < RENAME_READS; i++) {
        CLEANUP_BUF struct buf text = BUF_INIT(64);
        failures += root_read(&root, "a/b/../b/../b/../b/c/inside", &text) != 0;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(failures, 0);
}

/* ---- devices: nothing is done to them but that they are seen */

static void check_device_is_not_opened(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root host = { .fd = -1 };
    CLEANUP_BUF struct buf text = BUF_INIT(64);
    mode_t type = 0;
    assert_int_equal(root_open(&host, "/", NULL), 0);
    assert_int_equal(root_read(&host, "dev/zero", &text), EINVAL);
    assert_int_equal(root_type(&host, "dev/zero", &type), 0);
    assert_int_equal(type, S_IFCHR);
}

/* In a real procfs there are links that are none, and lead anywhere. */
static void check_magic_links(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root host = { .fd = -1 };
    CLEANUP_BUF struct buf text = BUF_INIT(65536);
    CLEANUP_FREE char *path = xasprintf("proc/%d/root/etc/os-release", (int) getpid());
    assert_int_equal(root_open(&host, "/", NULL), 0);
    assert_int_equal(root_read(&host, path, &text), ELOOP);
}

/* ---- links */

static void check_links(void **state)
{
    (void) state;
    char text[64], small[8];
    assert_int_equal(root_link(&root, "text-link", text, sizeof text), 0);
    assert_string_equal(text, "libnvidia-ml.so.580.95.05");
    assert_int_equal(root_link(&root, "text-link", small, sizeof small), ENAMETOOLONG);
    assert_int_equal(root_link(&root, "inside", text, sizeof text), EINVAL);
    assert_int_equal(root_link(&root, "nowhere", text, sizeof text), ENOENT);
}

static void check_peek(void **state)
{
    (void) state;
    char bytes[4];
    size_t len = 0;
    assert_int_equal(root_peek(&root, "large", bytes, sizeof bytes, &len), 0);
    assert_int_equal(len, 4);
    assert_int_equal(root_peek(&root, "empty", bytes, sizeof bytes, &len), 0);
    assert_int_equal(len, 0);
    assert_int_equal(root_peek(&root, "pipe", bytes, sizeof bytes, &len), EINVAL);
    assert_int_equal(root_peek(&root, "nowhere", bytes, sizeof bytes, &len), ENOENT);
}

/* ---- folders */

static void check_folders(void **state)
{
    (void) state;
    size_t count = 0;
    struct folder f = { 0 };
    assert_int_equal(folder_open(&f, &root, "crowd", 50), 0);
    while (folder_next(&f))
        count++;
    folder_close(&f);
    assert_int_equal(count, 50);
    assert_int_equal(f.why, 0);

    assert_int_equal(folder_open(&f, &root, "crowd", 49), 0);
    for (count = 0; folder_next(&f); count++)
        assert_int_equal(f.why, 0);
    folder_close(&f);
    assert_int_equal(count, 49);
    assert_int_equal(f.why, E2BIG);

    fake_root_look_begins();
    assert_int_equal(folder_open(&f, &root, "locked", 9), EACCES);
    assert_int_equal(folder_open(&f, &root, "inside", 9), ENOTDIR);
    assert_int_equal(folder_open(&f, &root, "nowhere", 9), ENOENT);
    fake_root_look_ends();
}

/* ---- what is noted */

static void check_view(void **state)
{
    (void) state;
    CLEANUP_VIEW struct view v = { .root = &root };
    const char *text;
    fake_root_look_begins();
    assert_int_equal(view_text(&v, "nowhere", 10, &text), ABSENT);
    assert_int_equal(v.troubles.len, 0);
    assert_int_equal(view_text(&v, "secret", 10, &text), UNREADABLE);
    assert_int_equal(view_text(&v, "secret", 10, &text), UNREADABLE);
    assert_int_equal(v.troubles.len, 1);
    assert_string_equal(v.troubles.items[0].path, "secret");
    assert_string_equal(v.troubles.items[0].reason, "Permission denied");
    assert_int_equal(view_text(&v, "inside", 3, &text), SEEN);
    assert_string_equal(text, "ins");
    assert_int_equal(view_text(&v, "empty", 3, &text), SEEN);
    assert_null(text);
    assert_int_equal(view_is(&v, "pipe", S_IFSOCK), ABSENT);
    assert_int_equal(view_is(&v, "socket", S_IFSOCK), SEEN);
    assert_int_equal(view_is(&v, "locked/x", S_IFSOCK), UNREADABLE);
    fake_root_look_ends();
    for (int i = 0; i < 2 * TROUBLES_MAX; i++) {
        CLEANUP_FREE char *path = xasprintf("proc/\n%d", i);
        view_note(&v, path, EIO);
    }
    assert_int_equal(v.troubles.len, TROUBLES_MAX);
    assert_string_equal(v.troubles.items[2].path, "proc/?0");
}

static void check_no_root(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct root r = { .fd = -1 };
    CLEANUP_FREE char *file = xasprintf("%s/inside", root_path);
    assert_int_equal(root_open(&r, "/nowhere/at-all", &e), -1);
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_string_equal(
        err_msg(&e), "cannot open the root directory /nowhere/at-all: No such file or directory");
    assert_int_equal(root_open(&r, file, &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_read, read_rows);
    SUITE_ROWS(&s, check_both_ways, read_rows);
    suite_add(&s, "folders are renamed meanwhile", check_while_others_rename, NULL);
    suite_add(&s, "a device is seen and not opened", check_device_is_not_opened, NULL);
    suite_add(&s, "links of procfs that lead anywhere are not followed", check_magic_links, NULL);
    suite_add(&s, "texts of links", check_links, NULL);
    suite_add(&s, "the first bytes of a file", check_peek, NULL);
    suite_add(&s, "folders up to a limit", check_folders, NULL);
    suite_add(&s, "what is not there is no trouble, what cannot be read is one, once", check_view,
              NULL);
    suite_add(&s, "a root that cannot be opened", check_no_root, NULL);
    return suite_run_with(&s, "root", set_up, tear_down);
}
