/* The process that asks NVML, beside a library that answers, crashes, hangs, lies and talks:
 * tests/nvml. */
#include "node/gpus/ask.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "node/gpus/gpus.h"
#include "node/inventory/nvml.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define BOOT "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"
#define HELPER "build/ostler-nvml"
#define LIBRARY "build/nvml-stand-in/libnvidia-ml.so.1"

enum { LIMIT_MS = 2000, HANG_MS = 300, LATE_MS = 1500, MOST = 4096 };

static const char answer[] = "card GPU-0 40960\n"
                             "mig GPU-0 1g.5gb MIG-0\nmig GPU-0 1g.5gb MIG-1\nmig GPU-0 1g.5gb "
                             "MIG-3\nmig GPU-0 1g.5gb MIG-4\n"
                             "mig GPU-0 1g.5gb MIG-6\n"
                             "card GPU-1 40960\nend\n";

static const struct row {
    const char *how; /* the library behaves; "absent": there is none */
    int64_t limit_ms;
    const char *error; /* NULL: none */
} rows[] = {
    { "answers", LIMIT_MS, NULL },
    { "leaves-a-child", LIMIT_MS, NULL },
    { "leaves-a-session", LIMIT_MS, NULL },
    { "breaks-out", LIMIT_MS, NULL },
    { "crashes", LIMIT_MS, "NVML: it was ended by a signal: Segmentation fault" },
    { "crashes-late", LIMIT_MS, "NVML: it was ended by a signal: Aborted" },
    { "refuses", LIMIT_MS,
      "NVML: the library cannot reach the driver, or may not open its devices" },
    { "hangs", HANG_MS, "NVML: it did not answer in time" },
    { "talks", LIMIT_MS, "NVML: its answer is too long" },
    { "absent", LIMIT_MS, "NVML: the loader of the driver's root cannot load the library" },
};

/* ---- a folder with the library, whose name says how it behaves */

static char *absolute(const char *path)
{
    char *full = realpath(path, NULL);
    if (!full)
        fail_msg("%s is missing; make builds it before this test", path);
    return full;
}

static char *folder_new(const char *how)
{
    char *base = xasprintf("%s/ostler-nvml-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(base));
    char *folder = xasprintf("%s/%s", base, how);
    assert_int_equal(mkdir(folder, 0755), 0);
    CLEANUP_FREE char *place = xasprintf("%s/libnvidia-ml.so.1", folder),
                      *library = absolute(LIBRARY);
    if (!str_eq(how, "absent"))
        assert_int_equal(symlink(library, place), 0);
    free(base);
    return folder;
}

static void folder_free(char *folder)
{
    CLEANUP_FREE char *place = xasprintf("%s/libnvidia-ml.so.1", folder);
    unlink(place);
    assert_int_equal(rmdir(folder), 0);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(rmdir(folder), 0);
    free(folder);
}

static void begin(const char *folder, struct asker *a, struct driver_root *d)
{
    *a = (struct asker){ .helper = open(HELPER, O_RDONLY | O_CLOEXEC) };
    *d = (struct driver_root){ .root.fd = open("/", O_PATH | O_CLOEXEC) };
    assert_true(a->helper >= 0 && d->root.fd >= 0);
    assert_true(snprintf(d->library_folder, sizeof d->library_folder, "%s", folder) <
                LIBRARY_FOLDER_MAX);
}

static int ask(const char *how, int64_t limit_ms, struct buf *said, struct err *e)
{
    struct asker a;
    CLEANUP_DRIVER_ROOT struct driver_root d;
    char *folder = folder_new(how);
    begin(folder, &a, &d);
    int rc = asker_ask(&a, &d, limit_ms, said, e);
    assert_int_equal(a.stuck, 0);
    asker_close(&a);
    folder_free(folder);
    return rc;
}

static void check(void **state)
{
    const struct row *row = *state;
    const struct clock clock = clock_system();
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    int64_t began_ms = clock_mono_ms(&clock);
    int rc = ask(row->how, row->limit_ms, &said, &e);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    if (!row->error)
        assert_string_equal(buf_text(&said), answer);
    assert_true(clock_mono_ms(&clock) - began_ms < LATE_MS);
    /* Nothing is left of it: what lost its parent would be this process's by now. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* What it says can be read, and nothing of it is taken. */
static void check_lies(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(NVML_TEXT_MAX);
    struct nvml_line line;
    assert_int_equal(ask("lies", LIMIT_MS, &said, NULL), 0);
    struct part text = part_of_buf(&said);
    assert_true(nvml_is_whole(text));
    assert_false(nvml_next(&text, &line));
}

/* While one cannot be ended, no other is begun. */
static void check_stuck(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    struct asker a;
    CLEANUP_DRIVER_ROOT struct driver_root d;
    char *folder = folder_new("answers");
    begin(folder, &a, &d);
    a.stuck = fork();
    assert_true(a.stuck >= 0);
    if (a.stuck == 0)
        for (;;)
            pause();
    assert_int_equal(asker_ask(&a, &d, LIMIT_MS, &said, &e), -1);
    assert_non_null(strstr(err_msg(&e), "hangs in the driver and cannot be killed"));
    assert_int_equal(kill(a.stuck, SIGKILL), 0);
    while (asker_ask(&a, &d, LIMIT_MS, &said, NULL) < 0)
        usleep(10 * 1000);
    assert_string_equal(buf_text(&said), answer);
    asker_close(&a);
    folder_free(folder);
}

/* ---- in a root of its own */

static void copy_file(const char *from, const char *root, const char *place)
{
    CLEANUP_FREE char *to = xasprintf("%s%s", root, place);
    char chunk[65536];
    size_t n;
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    assert_true(in && out);
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
        assert_int_equal(fwrite(chunk, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(to, 0755), 0);
}

/* A machine whose driver is its own: nothing is in it but the loader, the C library and the
 * driver's; the helper is not. */
static char *own_root_new(void)
{
    static const char *const folders[] = { "/lib64", "/lib", "/dev", "/usr", "/usr/lib64", "/run" };
    static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2",
                                           "/lib/ld-linux-aarch64.so.1" };
    CLEANUP_JSON json_t *machine = tree("{'files':{'proc/driver/nvidia/version':'NVRM version: x',"
                                        "'proc/sys/kernel/random/boot_id':'" BOOT "','run/x':''}}");
    char *base = fake_root_new(machine);
    Dl_info libc;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        CLEANUP_FREE char *folder = xasprintf("%s%s", base, folders[i]);
        assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
    }
    for (size_t i = 0; i < ARRAY_LEN(loaders); i++)
        if (access(loaders[i], R_OK) == 0)
            copy_file(loaders[i], base, loaders[i]);
    assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc));
    copy_file(libc.dli_fname, base, "/usr/lib64/libc.so.6");
    copy_file(LIBRARY, base, "/usr/lib64/libnvidia-ml.so.1");
    copy_file("/dev/null", base, "/dev/nvidiactl");
    return base;
}

static void check_own_root(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_DRIVER_ROOT struct driver_root d = { .root.fd = -1 };
    CLEANUP_ROOT struct root host = { .fd = -1 };
    if (geteuid() != 0)
        return; /* another root is for those who may */
    char *base = own_root_new();
    struct asker a = { .helper = open(HELPER, O_RDONLY | O_CLOEXEC) };
    assert_int_equal(root_open(&host, base, NULL), 0);
    assert_int_equal(driver_root_find(&host, &d, &e), 0);
    assert_string_equal(d.library_folder, "/usr/lib64");
    assert_int_equal(asker_ask(&a, &d, LIMIT_MS, &said, &e), 0);
    assert_string_equal(buf_text(&said), answer);
    asker_close(&a);
    fake_root_free(base);
}

/* ---- ostler-node cards */

/* It is looked for beside the program. */
static void put_helper_beside(void)
{
    char self[4096];
    CLEANUP_FREE char *helper = absolute(HELPER);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    CLEANUP_FREE char *place = xasprintf("%s/ostler-nvml", self);
    unlink(place);
    assert_int_equal(symlink(helper, place), 0);
}

/* What a file has, once it is there. Owned by the caller. */
static char *text_of(const char *path)
{
    char text[MOST];
    FILE *f = NULL;
    for (int ms = 0; ms < LIMIT_MS && !(f = fopen(path, "re")); ms += 10)
        usleep(10 * 1000);
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return xstrdup(text);
}

static void check_kept(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root host = { .fd = -1 };
    int status;
    if (geteuid() != 0)
        return; /* another root is for those who may */
    char *base = own_root_new();
    CLEANUP_FREE char *file = xasprintf("%s/run/cards", base), *new = xasprintf("%s.new", file);
    assert_int_equal(mkfifo(new, 0644), 0); /* whoever opens it waits for a reader */
    assert_int_equal(root_open(&host, base, NULL), 0);
    pid_t keeper = fork();
    assert_true(keeper >= 0);
    if (keeper == 0) {
        log_setup(LOG_SILENT, false);
        _exit(gpus_keep(&host, file, NULL) == 0 ? 0 : 1);
    }
    CLEANUP_FREE char *got = text_of(file);
    assert_int_equal(kill(keeper, SIGTERM), 0);
    assert_int_equal(waitpid(keeper, &status, 0), keeper);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(str_has_prefix(got, BOOT " "));
    assert_string_equal(strchr(got, '\n') + 1, answer);
    fake_root_free(base);
}

static void check_no_driver(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_ROOT struct root host = { .fd = -1 };
    CLEANUP_JSON json_t *machine = tree("{'files':{'usr/lib64/libnvidia-ml.so.1':''}}");
    char *base = fake_root_new(machine);
    assert_int_equal(root_open(&host, base, NULL), 0);
    assert_int_equal(gpus_print(&host, &e), -1);
    assert_string_equal(err_msg(&e), "no driver with devices and libnvidia-ml.so.1 was found");
    fake_root_free(base);
}

int main(void)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].how, check, (void *) &rows[i]);
    suite_add(&s, "lies", check_lies, NULL);
    suite_add(&s, "one that hangs in the kernel", check_stuck, NULL);
    suite_add(&s, "in the root of a driver", check_own_root, NULL);
    put_helper_beside();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    suite_add(&s, "kept in a file", check_kept, NULL);
    suite_add(&s, "no driver", check_no_driver, NULL);
    return suite_run(&s, "ask");
}
