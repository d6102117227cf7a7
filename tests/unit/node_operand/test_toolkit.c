/* The toolkit's containers, and what all operands use: programs, files, a copy of this one, last
 * words. */
#include "node/operand/toolkit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/wire.h"
#include "node/cri/cri.h"
#include "node/operand/place.h"
#include "node/operand/program.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define SIGN "run/nvidia/ostler/toolkit"
#define BOOT                                                                                       \
    "'proc/sys/kernel/random/boot_id':'boot1\\n','run/nvidia/x':'','sys/module/nvidia/"            \
    "refcnt':'0\\n'"
#define DRIVER ",'run/nvidia/ostler/driver':'boot1 rev1 pod1\\n'"

enum { PATIENCE_MS = 10 * 1000, STEP_MS = 10 };

static int shell(const char *line, int64_t limit_ms, struct buf *said, struct err *e)
{
    char name[] = "sh", option[] = "-c";
    CLEANUP_FREE char *script = xstrdup(line);
    char *const argv[] = { name, option, script, NULL };
    return program_run(argv, limit_ms, said, e);
}

/* ---- install-toolkit */

static const struct install_row {
    const char *name;
    const char *files;
    const char *line; /* what NVIDIA's program does; %s: the folder */
    const char *error;
} install_rows[] = {
    { "install: done", "'x':''",
      "mkdir -p %s/toolkit && touch %s/toolkit/nvidia-container-runtime && chmod +x %s/toolkit/*",
      "" },
    { "install: it fails", "'toolkit/nvidia-container-runtime':''", "exit 3 # %s %s %s",
      "sh ended with 3" },
    { "install: it has left nothing", "'x':''", "exit 0 # %s %s %s",
      "sh did not create %s/toolkit/nvidia-container-runtime" },
    { "install: it has left what cannot be run", "'toolkit/nvidia-container-runtime':''",
      "exit 0 # %s %s %s", "sh did not create %s/toolkit/nvidia-container-runtime" },
};

/* Puts the folder wherever a text has a %s. */
static char *with_folder(const char *text, const char *folder)
{
    struct buf out = BUF_INIT(4096);
    for (; *text; text++) {
        bool here = str_has_prefix(text, "%s");
        buf_printf(&out, "%.*s", here ? (int) strlen(folder) : 1, here ? folder : text);
        text += here;
    }
    return buf_take(&out);
}

static void check_install(void **state)
{
    const struct install_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    char *path = fake_root_open(row->files, &root), name[] = "sh", option[] = "-c";
    CLEANUP_FREE char *line = with_folder(row->line, path), *want = with_folder(row->error, path);
    char *const argv[] = { name, option, line, NULL };
    int rc = toolkit_install(&(struct toolkit){ .to = path, .program = argv, .seen_ms = 1 }, &e);
    fake_root_free(path);
    assert_string_equal(err_msg(&e), want);
    assert_int_equal(rc, *want ? -1 : 0);
}

static void await_file(const struct root *root, const char *path)
{
    for (int ms = 0; ms < PATIENCE_MS; ms += STEP_MS, usleep(STEP_MS * 1000))
        if (root_has(root, path))
            return;
    fail_msg("there is no %s", path);
}

static int told_to_stop(pid_t pid)
{
    int status;
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A process of its own that installs; it ends with the kind of its error. */
static pid_t install_beside(const char *to, const char *line, int64_t seen_ms)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL); /* one that comes before it listens waits for it */
    pid_t pid = fork();
    if (pid == 0) {
        char name[] = "sh", option[] = "-c";
        struct err e = { 0 };
        char *const argv[] = { name, option, xstrdup(line), NULL };
        const struct toolkit install = { .to = to, .program = argv, .seen_ms = seen_ms };
        _exit(toolkit_install(&install, &e) == 0 ? 0 : (int) e.kind);
    }
    sigprocmask(SIG_UNBLOCK, &term, NULL);
    return pid;
}

/* NVIDIA's program is not ended in the middle of its work, and does not hear of it. */
static void check_install_told(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'x':''", &root);
    CLEANUP_FREE char *line = with_folder(
        "trap 'exit 9' TERM; touch %s/begun; sleep 0.3; mkdir %s/toolkit; "
        "cp /bin/true %s/toolkit/nvidia-container-runtime",
        path);
    pid_t pid = install_beside(path, line, 1);
    await_file(&root, "begun");
    assert_int_equal(told_to_stop(pid), 0);
    assert_true(root_has(&root, "toolkit/nvidia-container-runtime"));
}

static void check_install_told_before(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'x':''", &root);
    CLEANUP_FREE char *line = with_folder("touch %s/begun", path);
    assert_int_equal(told_to_stop(install_beside(path, line, PATIENCE_MS)), ERR_TIMEOUT);
    assert_false(root_has(&root, "begun"));
}

/* ---- remove-toolkit */

static const struct remove_row {
    const char *name;
    const char *line; /* what NVIDIA's program does; %s: the folder */
    const char *error;
} remove_rows[] = {
    { "remove: the runtime is restarted with what was there before", "cp %s/conf %s/seen", "" },
    { "remove: NVIDIA's program writes where no runtime looks",
      "echo y >$RUNTIME_CONFIG; cp %s/conf %s/seen", "" },
    { "remove: NVIDIA's program fails", "cp %s/conf %s/seen; exit 3", "sh ended with 3" },
};

static void check_remove(void **state)
{
    const struct remove_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(
        "'conf':'host','scratch/x':'','copies/x':'','var/run/cdi/"
        "management.nvidia.com-gpu.yaml':'',"
        "'toolkit/tool':'','.runtime-configuration-before':'','.runtime-configuration-refused':''",
        &root);
    char name[] = "sh", option[] = "-c";
    CLEANUP_FREE char *line = with_folder(row->line, path), *conf = xasprintf("%s/conf", path),
                      *copies = xasprintf("%s/copies", path),
                      *scratch = xasprintf("%s/scratch", path);
    char *const argv[] = { name, option, line, NULL };
    const struct toolkit_files files = { .config = conf, .programs = "/ours/", .copies = copies };
    const struct toolkit removal = {
        .to = path, .program = argv, .seen_ms = 1, .files = files, .scratch = scratch
    };
    setenv("RUNTIME_CONFIG", conf, 1);
    assert_int_equal(toolkit_files_keep(&files, NULL), 0);
    assert_int_equal(place_put(&root, "conf", "made", NULL), 0);
    assert_int_equal(toolkit_files_made(&files, NULL), 0);
    int rc = toolkit_remove(&root, &removal, &e);
    assert_string_equal(err_msg(&e), row->error);
    assert_int_equal(rc, *row->error ? -1 : 0);
    CLEANUP_FREE char *seen = fake_root_text(&root, "seen"), *now = fake_root_text(&root, "conf");
    assert_string_equal(seen, "host");
    assert_string_equal(now, "host");
    assert_int_equal(root_has(&root, "var/run/cdi/management.nvidia.com-gpu.yaml"), rc != 0);
    assert_true(root_has(&root, "toolkit/tool"));
    assert_int_equal(root_has(&root, ".runtime-configuration-before"), rc != 0);
    assert_int_equal(root_has(&root, ".runtime-configuration-refused"), rc != 0);
}

/* ---- both wait for the runtime */

/* To containerd 2, a container that ends while it is away has failed. */
static void check_awaits(void **state)
{
    const bool is_removal = *state != NULL;
    static const struct runtime_times times = { .limit = 300, .stays = 100, .steady = 100 };
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(
        "'toolkit/nvidia-container-runtime':'','var/run/cdi/management.nvidia.com-gpu.yaml':'x'",
        &root);
    char name[] = "sh", option[] = "-c", line[] = "chmod +x $0/toolkit/*";
    char *const argv[] = { name, option, line, path, NULL };
    CLEANUP_FREE char *socket = xasprintf("%s/absent.sock", path);
    CLEANUP_FREE char *want = xasprintf(
        "the container runtime on %s does not answer since its configuration was changed", socket);
    const struct toolkit_files none = { .programs = "/ours/" };
    const struct toolkit removal = {
        .to = path, .program = argv, .socket = socket, .seen_ms = 1, .times = times, .files = none
    };
    const struct toolkit install = {
        .to = path, .program = argv, .socket = socket, .seen_ms = 1, .times = times, .files = none
    };
    int rc = is_removal ? toolkit_remove(&root, &removal, &e) : toolkit_install(&install, &e);
    bool is_left = root_has(&root, "var/run/cdi/management.nvidia.com-gpu.yaml");
    assert_string_equal(err_msg(&e), want);
    assert_int_equal(rc, -1);
    assert_true(is_left);
}

/* CRI-O says of a container that ends while it starts that it runs for ever. */
static void check_rests(void **state)
{
    const bool is_removal = *state != NULL;
    static const struct runtime_times times = { .limit = 300, .stays = 100, .steady = 200 };
    const struct clock clock = clock_system();
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(
        "'toolkit/nvidia-container-runtime':'','scratch/x':''", &root);
    char name[] = "sh", option[] = "-c", line[] = "chmod +x $0/toolkit/*";
    char *const argv[] = { name, option, line, path, NULL };
    CLEANUP_FREE char *scratch = xasprintf("%s/scratch", path);
    const struct toolkit_files none = { .programs = "/ours/" };
    const struct toolkit install = {
        .to = path, .program = argv, .seen_ms = 1, .times = times, .scratch = scratch, .files = none
    };
    const struct toolkit removal = {
        .to = path, .program = argv, .seen_ms = 1, .times = times, .scratch = scratch, .files = none
    };
    int64_t began_ms = clock_mono_ms(&clock);
    int rc = is_removal ? toolkit_remove(&root, &removal, &e) : toolkit_install(&install, &e);
    int64_t took_ms = clock_mono_ms(&clock) - began_ms;
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    assert_true(took_ms >= times.steady);
}

/* A runtime that is well until NVIDIA's program has run. */
static int answer(void *arg, const char *method, const struct buf *request, int64_t limit_ms,
                  struct buf *ret, struct err *e)
{
    (void) request, (void) limit_ms;
    CLEANUP_FREE char *changed = xasprintf("%s/changed", (const char *) arg);
    bool starts = str_has_suffix(method, "/RunPodSandbox");
    if (starts && access(changed, F_OK) == 0)
        return err_set(e, ERR_SERVER, "no low-level runtime");
    return !starts || wire_add_text(ret, 1, "sandbox-1") ? 0 : -1;
}

#define OWN "toolkit/.config/nvidia-container-runtime/config.toml"

/* It names the program that starts containers; what was there before did so. */
static void check_own_configuration(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(
        "'toolkit/nvidia-container-runtime':'','" OWN "':'a'", &root);
    char name[] = "sh", option[] = "-c",
         line[] =
             "cd $0 && chmod +x toolkit/nvidia-container-runtime && touch changed && echo b > " OWN;
    char *const argv[] = { name, option, line, path, NULL };
    const struct cri cri = { .call = answer, .arg = path };
    const struct toolkit install = { .to = path,
                                     .program = argv,
                                     .cri = &cri,
                                     .handler = "nvidia",
                                     .seen_ms = 1,
                                     .times = { .works = 1 },
                                     .scratch = path,
                                     .files = { .programs = "/ours/" } };
    assert_int_equal(toolkit_install(&install, &e), -1);
    CLEANUP_FREE char *text = fake_root_text(&root, OWN);
    assert_non_null(strstr(err_msg(&e),
                           "by default: no low-level runtime; the old configuration was restored"));
    assert_string_equal(text, "a");
}

/* ---- sign-toolkit */

static pid_t sign_beside(const struct root *root, enum ready_source source)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(toolkit_sign(root, source, "stack1", NULL) == 0 ? 0 : 1);
    return pid;
}

/* Waits until the sign says so; fails when it never does. */
static void await_sign(const struct root *root, const char *want)
{
    for (int ms = 0; ms < PATIENCE_MS; ms += STEP_MS, usleep(STEP_MS * 1000)) {
        CLEANUP_FREE char *sign = fake_root_text(root, SIGN);
        if (str_eq(sign, want))
            return;
    }
    fail_msg("there is no sign that says %s", want);
}

static const struct sign_row {
    const char *name;
    const char *files;
    enum ready_source source;
    const char *sign;
} sign_rows[] = {
    { "sign: for the driver of a container", BOOT DRIVER, READY_OF_CONTAINER,
      "boot1 rev1 stack1\n" },
    { "sign: for the host's driver", BOOT, READY_OF_HOST, "boot1 host stack1\n" },
    { "sign: in the place of an older one", BOOT DRIVER ",'" SIGN "':'boot0 rev0 stack0\\n'",
      READY_OF_CONTAINER, "boot1 rev1 stack1\n" },
};

static void check_sign(void **state)
{
    const struct sign_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    pid_t pid = sign_beside(&root, row->source);
    await_sign(&root, row->sign);
    assert_int_equal(told_to_stop(pid), 0);
    assert_false(root_has(&root, SIGN));
}

/* The sign of another pod that has come by then is that pod's. */
static void check_sign_of_another(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(BOOT DRIVER, &root);
    pid_t pid = sign_beside(&root, READY_OF_CONTAINER);
    await_sign(&root, "boot1 rev1 stack1\n");
    assert_int_equal(place_put(&root, SIGN, "boot1 rev1 stack2\n", NULL), 0);
    assert_int_equal(told_to_stop(pid), 0);
    CLEANUP_FREE char *sign = fake_root_text(&root, SIGN);
    assert_string_equal(sign, "boot1 rev1 stack2\n");
}

/* It does not sign for a driver that is not there yet, and goes at once when it is told to. */
static void check_sign_waits(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(BOOT, &root);
    pid_t pid = sign_beside(&root, READY_OF_CONTAINER);
    usleep(200 * 1000);
    assert_false(root_has(&root, SIGN));
    assert_int_equal(told_to_stop(pid), 0);
    assert_false(root_has(&root, SIGN));
}

/* ---- programs */

static const struct program_row {
    const char *name;
    const char *line;
    int64_t limit_ms;
    const char *said;
    const char *error;
} program_rows[] = {
    { "program: its words", "echo a; echo b >&2; echo c", 0, "a\nc\n", "" },
    { "program: more words than are wanted", "yes | head -c 1000000", 5000, "y\ny\ny\ny\n", "" },
    { "program: one that hangs", "echo a; sleep 60", 300, "a\n",
      "sh has not ended after 0 seconds" },
    { "program: one that leaves a child behind", "sleep 60 & echo a", 300, "a\n",
      "sh has not ended after 0 seconds" },
    { "program: it fails", "exit 2", 0, "", "sh ended with 2" },
};

static void check_program(void **state)
{
    const struct program_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_BUF struct buf said = BUF_INIT(8);
    int rc = shell(row->line, row->limit_ms, &said, &e);
    assert_string_equal(err_msg(&e), row->error);
    assert_int_equal(rc, *row->error ? -1 : 0);
    assert_string_equal(buf_text(&said), row->said);
}

/* ---- files */

static void check_files(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'a/b':'','l':{'link':'/a'}", &root);
    assert_int_equal(place_put(&root, "a/new/file", "text", NULL), 0);
    assert_int_equal(place_put(&root, "l/other", "text", NULL), 0);
    assert_true(root_has(&root, "a/other"));
    assert_int_equal(place_put(&root, "no/such/file", "text", &e), -1);
    assert_string_equal(err_msg(&e), "cannot write no/such/file: No such file or directory");
    assert_int_equal(place_remove(&root, "a/other", NULL), 0);
    assert_int_equal(place_remove(&root, "a/other", NULL), 0);
    assert_int_equal(place_remove(&root, "no/such/file", NULL), 0);
    assert_int_not_equal(place_write(&root, "a/none", "x"), 0);
    assert_false(root_has(&root, "a/none"));
}

/* What cannot be written leaves what was there, and nothing beside it. */
static void check_half_written(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'a/file/x':'','a/b':'old'", &root);
    CLEANUP_FREE char *folder = xasprintf("%s/a/file", path), *file = xasprintf("%s/a/b", path);
    assert_int_not_equal(file_put(AT_FDCWD, folder, 0644, "x", 1), 0);
    assert_false(root_has(&root, "a/file.new"));
    int folder_is_no_text = open(folder, O_RDONLY | O_CLOEXEC);
    assert_int_not_equal(file_copy(AT_FDCWD, file, 0644, folder_is_no_text), 0);
    close(folder_is_no_text);
    CLEANUP_FREE char *text = fake_root_text(&root, "a/b");
    assert_string_equal(text, "old");
    assert_false(root_has(&root, "a/b.new"));
}

/* The copy is this program, and any user may start it. */
static void check_copy(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'x':''", &root);
    CLEANUP_FREE char *to = xasprintf("%s/ostler-node", path),
                      *line = xasprintf("cmp %s /proc/%d/exe", to, (int) getpid());
    struct stat st;
    mode_t before = umask(077);
    assert_int_equal(place_self(to, NULL), 0);
    assert_int_equal(place_self(to, NULL), 0);
    umask(before);
    assert_int_equal(stat(to, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(shell(line, 0, NULL, NULL), 0);
    assert_int_equal(place_self("/no/such/folder/x", &e), -1);
    assert_string_equal(err_msg(&e),
                        "cannot copy this program to /no/such/folder/x: No such file or directory");
}

static void check_last_words(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(
        "'log':'something longer than that','link':{'link':'log'},'fifo':{'fifo':true}", &root);
    CLEANUP_FREE char *log = xasprintf("%s/log", path), *link = xasprintf("%s/link", path),
                      *fifo = xasprintf("%s/fifo", path), *none = xasprintf("%s/none", path);
    place_last_words(log, "DriverInUse: nvidia");
    place_last_words(link, "x");
    place_last_words(fifo, "x");
    place_last_words(none, "x");
    CLEANUP_FREE char *said = fake_root_text(&root, "log");
    assert_string_equal(said, "DriverInUse: nvidia");
    assert_false(root_has(&root, "none"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_install, install_rows);
    suite_add(&s, "install: told to stop in the middle", check_install_told, NULL);
    suite_add(&s, "install: told to stop before", check_install_told_before, NULL);
    SUITE_ROWS(&s, check_remove, remove_rows);
    suite_add(&s, "install: it waits until the runtime is back", check_awaits, NULL);
    suite_add(&s, "remove: it waits until the runtime is back", check_awaits, "remove");
    suite_add(&s, "install: a runtime that NVIDIA's program restarts has time to come to itself",
              check_rests, NULL);
    suite_add(&s, "remove: a runtime that NVIDIA's program restarts has time to come to itself",
              check_rests, "remove");
    suite_add(
        &s,
        "install: where no container starts the configuration of NVIDIA's runtimes goes back too",
        check_own_configuration, NULL);
    SUITE_ROWS(&s, check_sign, sign_rows);
    suite_add(&s, "sign: that of another pod stays", check_sign_of_another, NULL);
    suite_add(&s, "sign: not before the driver", check_sign_waits, NULL);
    SUITE_ROWS(&s, check_program, program_rows);
    suite_add(&s, "files: in a folder of the root", check_files, NULL);
    suite_add(&s, "files: whole, or as before", check_half_written, NULL);
    suite_add(&s, "copy: the same program", check_copy, NULL);
    suite_add(&s, "last words", check_last_words, NULL);
    return suite_run(&s, "toolkit's containers");
}
