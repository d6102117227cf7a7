/* A change of the runtime's configuration: tried, judged, and taken back where it does harm.
 * NVIDIA's program and containerd's dump are lines of a shell in a folder with the configuration.
 */
#include "node/operand/runtime_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/wire.h"
#include "tests/unit/support/suite.h"

/* Which source was taken is noted in the file tried. */
#define NOTE "echo ${RUNTIME_CONFIG_SOURCES:-$RUNTIME_CONFIG_SOURCE} >> tried; "
#define ADDS NOTE "echo new = 2 >> config; echo drop = 1 > drop-in"
#define LOSES NOTE "echo new = 2 > config; echo drop = 1 > drop-in"
#define LOSES_BY_FILE                                                                              \
    NOTE "test $RUNTIME_CONFIG_SOURCE = file && echo a = 2 > config || echo b = 2 >> config"
#define ADDS_HANDLER ADDS "; echo '[plugins.x.containerd.runtimes.nvidia]' >> config"
#define LOSES_BY_OTHER                                                                             \
    NOTE "if test $RUNTIME_CONFIG_SOURCE = command,file; then echo b = 2 >> config; else echo b "  \
         "= 2 > config; fi; "                                                                      \
         "echo '[plugins.x.containerd.runtimes.nvidia]' >> config"
#define CAT "cat config"
#define READS "cp config read-$(ls read-* 2>/dev/null | wc -l); echo bad = 1 > $RUNTIME_CONFIG; "
#define FAILED "RuntimeConfigFailed: "

static const struct row {
    const char *name;
    const char *program, *dump; /* NULL: no dump is known */
    const char *source, *sources;
    const char *before; /* what happens first */
    const char *error;  /* how it begins; NULL: none */
    const char *right;
} rows[] = {
    { "what loses nothing is written", ADDS, CAT, "file", NULL, ":", NULL,
      "grep -q new config && test -e drop-in && test $(cat tried | tr -d '\\n') = file" },
    { "what loses a setting is not tried on the runtime", LOSES, CAT, NULL, NULL, ":",
      FAILED "with the toolkit's drop-in containerd's configuration would lose a. The runtime was "
             "not restarted.",
      "test \"$(cat config)\" = 'a = 1' && test ! -e drop-in" },
    { "where the file as the source loses, the command is tried", LOSES_BY_FILE, CAT, "file", NULL,
      ":", NULL, "grep -q b config && grep -q a config && test $(tail -n1 tried) = command,file" },
    { "the source that an administrator sets is the only one", LOSES_BY_FILE, CAT, "file", "file",
      ":", FAILED, "test \"$(cat config)\" = 'a = 1' && test $(wc -l < tried) = 1" },
    { "what the runtime cannot read is not tried on it", ADDS, "test ! -e drop-in && cat config",
      NULL, NULL, ":",
      FAILED "with the toolkit's drop-in containerd's configuration would lose everything: "
             "containerd cannot read it",
      "test \"$(cat config)\" = 'a = 1' && test ! -e drop-in" },
    { "without a dump nothing is judged", LOSES, NULL, NULL, NULL, ":", NULL,
      "grep -q new config" },
    { "a dump that fails before judges nothing", LOSES, "false", NULL, NULL, ":", NULL,
      "grep -q new config" },
    { "without the runtime's program the change is taken back",
      "test -e wrapper || exit 0; " ADDS "; rm wrapper", CAT, NULL, NULL, ":",
      FAILED "sh did not create ", "test \"$(cat config)\" = 'a = 1' && test ! -e drop-in" },
    { "NVIDIA's program fails", "echo x > config; exit 3", CAT, NULL, NULL, ":", "sh ended with 3",
      "test \"$(cat config)\" = 'a = 1'" },
    { "what a process left that did not live to see it is put back first",
      "cat config > seen; true", NULL, NULL, NULL,
      "printf 'ostler keeps these files 1\\n644 5 %s/config\\na = 0\\n' $PWD > copies", NULL,
      "test \"$(cat seen)\" = 'a = 0'" },
    { "what was refused after a restart is not tried again by the same pod", ADDS, CAT, NULL, NULL,
      "printf 'pod-1\\nRuntimeConfigFailed: it ended' > refused", FAILED "it ended",
      "test ! -e tried" },
    { "what the same pod could only put back later is read by the runtime", NOTE "true", CAT, NULL,
      NULL,
      "printf 'pod-1\\nRuntimeConfigFailed: it ended' > refused; "
      "printf 'ostler keeps these files 1\\n644 5 %s/config\\na = 0\\n' $PWD > copies",
      FAILED "it ended", "test \"$(cat config)\" = 'a = 0' && test -e tried" },
    { "a new pod tries again", ADDS, CAT, NULL, NULL,
      "printf 'pod-10\\nRuntimeConfigFailed: it ended' > refused", NULL,
      "test -e drop-in && test ! -e refused" },
};

static const struct follow_row {
    struct row row;
    const char *config; /* the file that the runtime was started with */
} follow_rows[] = {
    { { "the source is the file that the runtime was started with", ADDS_HANDLER, CAT, "file", NULL,
        ":", NULL, "test $(cat tried) = file=/host/usr/share/containerd/config.toml" },
      "/usr/share/containerd/config.toml" },
    { { "where that file as the source loses, the command is tried", LOSES_BY_OTHER, CAT, "file",
        NULL, ":", NULL, "test $(tail -n1 tried) = command,file && grep -q a config" },
      "/usr/share/containerd/config.toml" },
    { { "started with the file of its packages", ADDS, CAT, "file", NULL, ":", NULL,
        "test $(cat tried) = file" },
      "/etc/containerd/config.toml" },
    { { "started with a file, and an administrator sets the source", ADDS_HANDLER, CAT, "file",
        "file=/host/x", ":", NULL, "test $(cat tried) = file=/host/x" },
      "/usr/share/containerd/config.toml" },
    { { "a distribution that has its own source keeps it, and makes its file when it restarts",
        ADDS, CAT, "file=/host/template", NULL, ":", NULL,
        "test $(cat tried) = file=/host/template" },
      "/var/snap/microk8s/1/args/containerd.toml" },
    { { "a file that does not take in the drop-in is named before a restart", ADDS, CAT, "file",
        NULL, ":",
        FAILED "containerd was started with /usr/share/containerd/config.toml, which does not "
               "import the toolkit's drop-in.",
        "test \"$(cat config)\" = 'a = 1' && test ! -e drop-in" },
      "/usr/share/containerd/config.toml" },
};

/* For the change that is tried; NULL: no file. */
static const char *started_with;

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static int change_with(const char *folder, const struct row *row, const char *socket,
                       struct runtime_proof *proof, struct err *e)
{
    CLEANUP_FREE char *wrapper = xasprintf("%s/wrapper", folder);
    CLEANUP_FREE char *config = xasprintf("%s/config", folder),
                      *drop = xasprintf("%s/drop-in", folder),
                      *copies = xasprintf("%s/copies", folder),
                      *refused = xasprintf("%s/refused", folder), *program = xstrdup(row->program),
                      *dump = xstrdup(row->dump ? row->dump : "");
    char sh[] = "sh", option[] = "-c";
    char *const run[] = { sh, option, program, NULL }, *const ask[] = { sh, option, dump, NULL };
    const char *const files[] = { config, drop, NULL };
    set("RUNTIME_CONFIG_SOURCE", row->source);
    set("RUNTIME_CONFIG_SOURCES", row->sources);
    const struct runtime_change c = { .program = run,
                                      .wrapper = wrapper,
                                      .files = files,
                                      .copies = copies,
                                      .refused = refused,
                                      .pod = "pod-1",
                                      .socket = socket,
                                      .scratch = folder,
                                      .dump = { .argv = row->dump ? ask : NULL,
                                                .config = started_with },
                                      .host = "/host",
                                      .times = { 300, 100, 100, 100 },
                                      .proof = proof };
    return runtime_change(&c, e);
}

static int change(const char *folder, const struct row *row, const char *socket, struct err *e)
{
    return change_with(folder, row, socket, NULL, e);
}

static void enter(char *folder)
{
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(system("echo a = 1 > config; touch wrapper; chmod +x wrapper"), 0);
}

static void leave(const char *folder)
{
    CLEANUP_FREE char *rm = xasprintf("rm -r %s", folder);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(system(rm), 0);
}

static void check(void **state)
{
    const struct row *row = *state;
    char folder[] = "/tmp/ostler-change-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    enter(folder);
    assert_int_equal(system(row->before), 0);
    assert_int_equal(change(folder, row, NULL, &e), row->error ? -1 : 0);
    assert_memory_equal(err_msg(&e), row->error ? row->error : "",
                        row->error ? strlen(row->error) : 1);
    assert_int_equal(system(row->right), 0);
    assert_int_not_equal(access("copies", F_OK), 0);
    leave(folder);
}

static void check_follow(void **state)
{
    const struct follow_row *row = *state;
    void *inner = (void *) &row->row;
    started_with = row->config;
    check(&inner);
    started_with = NULL;
}

static void a_runtime_that_does_not_come_back_gets_its_old_configuration(void **state)
{
    (void) state;
    static const struct row row = { .program = ADDS, .dump = CAT };
    char folder[] = "/tmp/ostler-change-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    enter(folder);
    CLEANUP_FREE char *socket = xasprintf("%s/runtime.sock", folder);
    assert_int_equal(change(folder, &row, socket, &e), -1);
    assert_non_null(strstr(err_msg(&e), "RuntimeConfigFailed: the container runtime on"));
    assert_int_equal(system("test \"$(cat config)\" = 'a = 1' && test ! -e drop-in && test -e "
                            "refused && test ! -e copies"),
                     0);
    leave(folder);
}

/* CRI-O: without a socket NVIDIA's program restarts the runtime, each time that it runs. What the
 * runtime reads then is noted. */
static const struct restart_row {
    const char *name, *program, *error;
} restart_rows[] = {
    { "a runtime without a socket reads its old configuration", READS "test -e read-1",
      FAILED "sh ended with 1; the old configuration was restored. See the runtime's own log" },
    { "a runtime without a socket that does not take its old configuration either", READS "exit 3",
      FAILED
      "sh ended with 3; the old configuration was restored, and still sh ended with 3. Repair" },
};

static void check_restart(void **state)
{
    const struct restart_row *row = *state;
    const struct row want = { .program = row->program };
    char folder[] = "/tmp/ostler-change-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    enter(folder);
    CLEANUP_FREE char *config = xasprintf("%s/config", folder);
    setenv("RUNTIME_CONFIG", config, 1);
    assert_int_equal(change(folder, &want, NULL, &e), -1);
    assert_memory_equal(err_msg(&e), row->error, strlen(row->error));
    assert_int_equal(system("test \"$(cat read-1)\" = 'a = 1' && test \"$(cat config)\" = 'a = 1' "
                            "&& test -e refused"),
                     0);
    unsetenv("RUNTIME_CONFIG");
    leave(folder);
}

/* It does not answer: a restart would say so. */
static void what_loses_a_setting_is_put_back_before_a_restart(void **state)
{
    (void) state;
    static const struct row row = { .program = LOSES, .dump = CAT };
    char folder[] = "/tmp/ostler-change-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    enter(folder);
    CLEANUP_FREE char *socket = xasprintf("%s/runtime.sock", folder);
    assert_int_equal(change(folder, &row, socket, &e), -1);
    assert_non_null(strstr(err_msg(&e), "would lose a. The runtime was not restarted."));
    assert_int_equal(system("test \"$(cat config)\" = 'a = 1' && test ! -e refused"), 0);
    leave(folder);
}

/* A runtime that is well, but starts no container while there is a drop-in. */
static int answer(void *arg, const char *method, const struct buf *request, int64_t limit_ms,
                  struct buf *ret, struct err *e)
{
    (void) arg, (void) request, (void) limit_ms;
    bool starts = str_has_suffix(method, "/RunPodSandbox");
    if (starts && access("drop-in", F_OK) == 0)
        return err_set(e, ERR_SERVER, "the shim is gone");
    return !starts || wire_add_text(ret, 1, "sandbox-1") ? 0 : -1;
}

/* The runtime reads its old configuration again, as CRI-O does. */
static void containers_that_do_not_start_again_get_the_old_configuration(void **state)
{
    (void) state;
    static const struct row row = { .program = READS "echo drop = 1 > drop-in" };
    const struct cri cri = { .call = answer };
    struct runtime_proof proof = {
        .cri = &cri, .handler = "nvidia", .name = "pod-1", .limit_ms = 1
    };
    char folder[] = "/tmp/ostler-change-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    enter(folder);
    CLEANUP_FREE char *config = xasprintf("%s/config", folder);
    setenv("RUNTIME_CONFIG", config, 1);
    assert_int_equal(change_with(folder, &row, NULL, &proof, &e), -1);
    static const char said[] = FAILED "no container starts with the runtime's handler by default: "
                                      "the shim is gone; the old configuration was restored.";
    assert_memory_equal(err_msg(&e), said, strlen(said));
    assert_int_equal(system("test \"$(cat read-1)\" = 'a = 1' && test \"$(cat config)\" = 'a = 1' "
                            "&& test -e refused"),
                     0);
    unsetenv("RUNTIME_CONFIG");
    leave(folder);
}

/* ---- whose dump it is */

static const struct find_row {
    const char *name, *exe, *line;
    const char *argv; /* NULL: none is found */
} find_rows[] = {
    { "containerd", "/usr/bin/containerd", "/usr/bin/containerd",
      "/usr/bin/containerd config dump" },
    { "with a file", "/opt/bin/containerd", "containerd\\0-c\\0/etc/x.toml",
      "/opt/bin/containerd --config /etc/x.toml config dump" },
    { "with a file in one word", "/opt/bin/containerd", "containerd\\0--config=/etc/x.toml",
      "/opt/bin/containerd --config /etc/x.toml config dump" },
    { "an option without its file", "/usr/bin/containerd", "containerd\\0-c",
      "/usr/bin/containerd config dump" },
    { "k3s, which has it within", "/var/lib/rancher/k3s/data/current/bin/k3s", "containerd", NULL },
    { "a program that was replaced", "/usr/bin/containerd (deleted)", "containerd", NULL },
    { "docker", "/usr/bin/dockerd", "dockerd", NULL },
};

static void check_find(void **state)
{
    const struct find_row *row = *state;
    char folder[] = "/tmp/ostler-change-XXXXXX";
    struct runtime_dump dump;
    CLEANUP_BUF struct buf argv = BUF_INIT(4096);
    enter(folder);
    CLEANUP_FREE char *line = xasprintf("mkdir 7 && ln -s '%s' 7/exe && printf '%s\\0' > 7/cmdline",
                                        row->exe, row->line);
    assert_int_equal(system(line), 0);
    runtime_dump_find(folder, 7, &dump);
    for (char *const *arg = dump.argv; arg && *arg; arg++)
        buf_printf(&argv, "%s%s", argv.len ? " " : "", *arg);
    assert_string_equal(buf_text(&argv), row->argv ? row->argv : "");
    runtime_dump_free(&dump);
    leave(folder);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    for (size_t i = 0; i < ARRAY_LEN(follow_rows); i++)
        suite_add(&s, follow_rows[i].row.name, check_follow, &follow_rows[i]);
    suite_add(&s, "a runtime that does not come back gets its old configuration",
              a_runtime_that_does_not_come_back_gets_its_old_configuration, NULL);
    SUITE_ROWS(&s, check_restart, restart_rows);
    suite_add(&s, "containers that do not start again get the old configuration",
              containers_that_do_not_start_again_get_the_old_configuration, NULL);
    suite_add(&s, "what loses a setting is put back before a restart",
              what_loses_a_setting_is_put_back_before_a_restart, NULL);
    SUITE_ROWS(&s, check_find, find_rows);
    return suite_run(&s, "runtime change");
}
