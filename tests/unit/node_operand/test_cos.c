/* `ostler-node install-cos-driver`: on which nodes Google's installer runs. */
#include "node/operand/cos.h"

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define LOADED(version)                                                                            \
    "'proc/modules':'nvidia 1 0 - Live 0x0 (POE)\\n','sys/module/nvidia/version':'" version "\\n'"
#define INSTALLED ",'usr/local/nvidia/bin/nvidia-smi':''"
#define OTHER                                                                                      \
    "driver 550.90.07 is loaded, and 535.183.01 is wanted: Google's installer cannot unload it, "  \
    "reboot the node"

static const struct row {
    const char *name, *files, *argument;
    bool needed;
    const char *error; /* NULL: none */
} rows[] = {
    { "a new node", "'proc/modules':''", "--version=535.183.01", true, NULL },
    { "after a reboot", "'proc/modules':''" INSTALLED, "--version=535.183.01", true, NULL },
    { "loaded", LOADED("535.183.01") INSTALLED, "--version=535.183.01", false, NULL },
    { "loaded, and any version is wanted", LOADED("550.90.07") INSTALLED, "--debug", false, NULL },
    { "loaded, and a version without a number is wanted", LOADED("550.90.07") INSTALLED,
      "--version=latest", false, NULL },
    { "loaded, of an unknown version",
      "'proc/modules':'','sys/module/nvidia/refcnt':'0\\n'" INSTALLED, "--version=535.183.01",
      false, NULL },
    { "loaded, and its files are gone", LOADED("535.183.01"), "--version=535.183.01", true, NULL },
    { "another is loaded", LOADED("550.90.07") INSTALLED, "--version=535.183.01", false, OTHER },
    { "another is loaded, and its files are gone", LOADED("550.90.07"), "--version=535.183.01",
      false, OTHER },
    { "modules of others", "'proc/modules':'nvme 1 0 - Live 0x0\\n'", "--version=535.183.01", true,
      NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    char *path = fake_root_with(row->files), installer[] = "/cos-gpu-installer",
         install[] = "install";
    char *program[] = { installer, install, (char *) row->argument, NULL };
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    bool needed = false;
    assert_int_equal(root_open(&root, path, NULL), 0);
    int rc = cos_needs_installer(&root, "/usr/local/nvidia", program, &needed, &e);
    fake_root_free(path);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    if (!row->error)
        assert_int_equal(needed, row->needed);
}

/* The installer takes this process over, and is not started where it is not needed. */
static void starts(void **state)
{
    (void) state;
    char nowhere[] = "/nowhere/installer", *program[] = { nowhere, NULL };
    static const char *const files[] = { "'proc/modules':''", LOADED("1.2") INSTALLED };
    static const char *const errors[] = {
        "cannot start /nowhere/installer: No such file or directory", ""
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CLEANUP_FAKE_ROOT char *path = fake_root_with(files[i]);
        CLEANUP_ROOT struct root root = { .fd = -1 };
        CLEANUP_ERR struct err e = { 0 };
        assert_int_equal(root_open(&root, path, NULL), 0);
        int rc = cos_install(&root, "/usr/local/nvidia", program, &e);
        assert_string_equal(err_msg(&e), errors[i]);
        assert_int_equal(rc, *errors[i] ? -1 : 0);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "starts the installer only where it is needed", starts, NULL);
    return suite_run(&s, "install-cos-driver");
}
