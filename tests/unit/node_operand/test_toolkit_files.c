/* What a node has after the toolkit was taken off: the configuration of its container runtime as it
 * was before, whoever wrote into it meanwhile. NVIDIA's own installer is tried by
 * e2e/operands/layouts. */
#include "node/operand/toolkit_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

#define OURS "/usr/local/nvidia/toolkit/"
#define HOST                                                                                       \
    "# image\nversion = 3\n[a.containerd]\ndefault_runtime_name = \"nvidia\"\n"                    \
    "[a.runtimes.nvidia.options]\nBinaryName = \"/usr/bin/n\"\n"
#define MADE                                                                                       \
    "imports = [\"/c/*.toml\"]\nversion = 3\n[a.runtimes.nvidia.options]\n  BinaryName = "         \
    "\"/usr/bin/n\"\n"
#define DROP_IN "version = 3\n[a.runtimes.nvidia.options]\nBinaryName = \"" OURS "n\"\n"
#define V1_MADE                                                                                    \
    "[a]\ndefault_runtime = \"nvidia\"\n[a.runtimes.x]\nBinaryName = \"/usr/bin/x\"\n"             \
    "[a.runtimes.nvidia]\nBinaryName = \"" OURS "n\"\n"
#define V1_EDITED V1_MADE "[b]\nlevel = \"debug\"\n"

/* NULL: there is no such file. */
static const struct restore_row {
    const char *name;
    const char *before, *before_drop_in; /* before the toolkit */
    const char *made, *made_drop_in;     /* it makes this */
    const char *now, *now_drop_in;       /* an admin edits it to this; as made where both are "" */
    const char *want, *want_drop_in;     /* after the removal */
    const char *aside;                   /* the toolkit's own file beside the copies */
} restore_rows[] = {
    { "the host's own runtime, default and comments come back", HOST, NULL, MADE, DROP_IN, "", "",
      HOST, NULL, NULL },
    { "a drop-in of the host's comes back", HOST, "[x]\n", MADE, DROP_IN, "", "", HOST, "[x]\n",
      NULL },
    { "a configuration that was not there goes", NULL, NULL, "version = 3\n", DROP_IN, "", "", NULL,
      NULL, NULL },
    { "nothing was changed", HOST, NULL, HOST, NULL, "", "", HOST, NULL, NULL },
    { "an edited configuration keeps what the host has", HOST, NULL, MADE, DROP_IN, MADE "[z]\n",
      DROP_IN, MADE "[z]\n", NULL, NULL },
    { "an edited configuration loses the toolkit's runtimes", "[a]\ndefault_runtime = \"runc\"\n",
      NULL, V1_MADE, NULL, V1_EDITED, NULL,
      "[a]\ndefault_runtime = \"runc\"\n[a.runtimes.x]\nBinaryName = \"/usr/bin/x\"\n[b]\nlevel = "
      "\"debug\"\n",
      NULL, NULL },
    { "an edited file of the toolkit's is put aside", HOST, NULL, MADE, DROP_IN, MADE,
      DROP_IN "# mine\n", HOST, NULL, DROP_IN "# mine\n" },
};

struct place {
    char folder[32];
    char *config, *drop_in, *other, *aside;
    struct toolkit_files files;
};

static void place_make(struct place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/ostler-files-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    p->config = xasprintf("%s/config.toml", p->folder);
    p->drop_in = xasprintf("%s/conf.d/99-nvidia.toml", p->folder);
    p->other = xasprintf("%s/conf.d/50-other.toml", p->folder);
    p->aside = xasprintf("%s/changed-99-nvidia.toml", p->folder);
    CLEANUP_FREE char *folder = xasprintf("%s/conf.d", p->folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    p->files = (struct toolkit_files){
        .config = p->config, .drop_in = p->drop_in, .programs = OURS, .copies = p->folder
    };
}

static void place_clear(struct place *p)
{
    CLEANUP_FREE char *line = xasprintf("rm -rf %s", p->folder);
    assert_int_equal(system(line), 0);
    free(p->config);
    free(p->drop_in);
    free(p->other);
    free(p->aside);
}

static void put(const char *path, const char *text)
{
    if (text)
        assert_int_equal(file_put(-100, path, 0644, text, strlen(text)), 0);
    else
        unlink(path);
}

static void want(const char *path, const char *text)
{
    CLEANUP_KEPT struct kept k = { 0 };
    assert_int_equal(kept_add(&k, path, NULL), 0);
    assert_int_equal(k.files[0].is_there, text != NULL);
    if (text)
        assert_string_equal(buf_text(&k.files[0].bytes), text);
}

/* Installed as often as that: only the first change counts. */
static void live(const struct restore_row *row, int installs)
{
    struct place p;
    place_make(&p);
    put(p.config, row->before);
    put(p.drop_in, row->before_drop_in);
    for (int i = 0; i < installs; i++) {
        assert_int_equal(toolkit_files_keep(&p.files, NULL), 0);
        put(p.config, row->made);
        put(p.drop_in, row->made_drop_in);
        assert_int_equal(toolkit_files_made(&p.files, NULL), 0);
    }
    if (row->now && *row->now) {
        put(p.config, row->now);
        put(p.drop_in, row->now_drop_in);
    }
    for (int i = 0; i < 2; i++) { /* its container may be started again */
        assert_int_equal(toolkit_files_restore(&p.files, NULL), 0);
        want(p.config, row->want);
        want(p.drop_in, row->want_drop_in);
        want(p.aside, row->aside);
    }
    place_clear(&p);
}

static void check_restore(void **state)
{
    live(*state, 1);
}

static void check_restore_again(void **state)
{
    live(*state, 3);
}

/* An earlier Ostler has made no copies: its file goes, and the host's runtime stays, which NVIDIA's
 * program took away. */
static void check_no_copies(void **state)
{
    (void) state;
    struct place p;
    place_make(&p);
    put(p.config, MADE);
    put(p.drop_in, DROP_IN);
    assert_int_equal(toolkit_files_restore(&p.files, NULL), 0);
    want(p.config, MADE);
    want(p.drop_in, NULL);
    place_clear(&p);
}

/* The same, and this Ostler has installed once more before. */
static void check_no_copies_then_installed(void **state)
{
    (void) state;
    struct place p;
    place_make(&p);
    put(p.config, MADE);
    put(p.drop_in, DROP_IN);
    assert_int_equal(toolkit_files_keep(&p.files, NULL), 0);
    assert_int_equal(toolkit_files_made(&p.files, NULL), 0);
    assert_int_equal(toolkit_files_restore(&p.files, NULL), 0);
    want(p.config, MADE);
    want(p.drop_in, NULL);
    place_clear(&p);
}

/* Another program rewrites the host's configuration, as some systems do at each start: the removal
 * restores what it wrote. */
static void check_written_anew(void **state)
{
    (void) state;
    struct place p;
    place_make(&p);
    put(p.config, HOST);
    assert_int_equal(toolkit_files_keep(&p.files, NULL), 0);
    put(p.config, MADE);
    assert_int_equal(toolkit_files_made(&p.files, NULL), 0);
    put(p.config, HOST "# newer\n");
    assert_int_equal(toolkit_files_keep(&p.files, NULL), 0);
    put(p.config, MADE "# newer\n");
    assert_int_equal(toolkit_files_made(&p.files, NULL), 0);
    assert_int_equal(toolkit_files_restore(&p.files, NULL), 0);
    want(p.config, HOST "# newer\n");
    place_clear(&p);
}

/* Without the import the runtime would no longer read what an admin has put beside the toolkit's
 * file. */
static void check_imports_of_others(void **state)
{
    (void) state;
    struct place p;
    place_make(&p);
    put(p.config, HOST);
    assert_int_equal(toolkit_files_keep(&p.files, NULL), 0);
    put(p.config, MADE);
    put(p.drop_in, DROP_IN);
    assert_int_equal(toolkit_files_made(&p.files, NULL), 0);
    put(p.other, "[x]\n");
    assert_int_equal(toolkit_files_restore(&p.files, NULL), 0);
    want(p.config, MADE);
    want(p.drop_in, NULL);
    want(p.other, "[x]\n");
    place_clear(&p);
}

static void check_docker(void **state)
{
    (void) state;
    static const char text[] =
        "{\"default-runtime\":\"nvidia\",\"runtimes\":{\"nvidia\":{\"path\":\"" OURS
        "n\"},\"x\":{\"path\":\"/x\"}},\"debug\":true}";
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    assert_true(
        toolkit_files_without_json((struct part){ text, sizeof text - 1 }, OURS, "x", &out));
    assert_string_equal(
        buf_text(&out),
        "{\n    \"default-runtime\": \"x\",\n    \"runtimes\": {\n        \"x\": {\n"
        "            \"path\": \"/x\"\n        }\n    },\n    \"debug\": true\n}\n");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_restore, restore_rows);
    SUITE_ROWS(&s, check_restore_again, restore_rows);
    suite_add(&s, "installed by an Ostler that made no copies", check_no_copies, NULL);
    suite_add(&s, "installed by one that made none, then by this", check_no_copies_then_installed,
              NULL);
    suite_add(&s, "the host's configuration is written anew", check_written_anew, NULL);
    suite_add(&s, "a file that an admin added is still imported", check_imports_of_others, NULL);
    suite_add(&s, "docker's configuration", check_docker, NULL);
    return suite_run(&s, "the toolkit's files");
}
