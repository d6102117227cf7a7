/* Files are put back as they were, byte for byte. */
#include "node/operand/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

/* What a shell does in a folder before the copies are made, after it, and what is right in the end.
 */
static const struct row {
    const char *name, *before, *change, *right;
    bool differs;
} rows[] = {
    { "nothing changes", "printf a > config", ":", "test $(cat config) = a", false },
    { "a file is written anew", "printf 'a\\nb' > config", "echo c > config",
      "test \"$(od -An -c config)\" = '   a  \\n   b'", true },
    { "a file gets other permissions", "echo a > config; chmod 640 config", "chmod 600 config",
      "test $(stat -c %a config) = 640", true },
    { "a file is taken away", "echo a > config; chmod 640 config", "rm config",
      "test $(stat -c %a config) = 640", true },
    { "a file comes that was not there", ":", "echo a > config", "test ! -e config", true },
    { "a link stays one, and what it leads to is put back", "echo a > other; ln -s other config",
      "echo b > config", "test -L config && test $(cat other) = a", true },
    { "a file is empty", ": > config", "echo b > config", "test -e config && test ! -s config",
      true },
};

static int shell(const char *folder, const char *line)
{
    CLEANUP_FREE char *text = xasprintf("cd %s && { %s; }", folder, line);
    return system(text);
}

/* By way of the disk, as after a process that did not live to do it. */
static void check(void **state)
{
    const struct row *row = *state;
    char folder[] = "/tmp/ostler-kept-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_KEPT struct kept kept = { 0 }, loaded = { 0 };
    assert_non_null(mkdtemp(folder));
    CLEANUP_FREE char *config = xasprintf("%s/config", folder),
                      *copies = xasprintf("%s/copies", folder);
    assert_int_equal(shell(folder, row->before), 0);
    assert_int_equal(kept_add(&kept, config, &e), 0);
    assert_int_equal(kept_save(&kept, copies, &e), 0);
    assert_int_equal(shell(folder, row->change), 0);
    assert_int_equal(kept_differs(&kept), row->differs);
    assert_int_equal(kept_load(&loaded, copies, &e), 1);
    assert_int_equal(kept_put_back(&loaded, &e), 0);
    assert_string_equal(err_msg(&e), "");
    assert_false(kept_differs(&kept));
    assert_int_equal(shell(folder, row->right), 0);
    CLEANUP_FREE char *rm = xasprintf("rm -r %s", folder);
    assert_int_equal(system(rm), 0);
}

#define HEAD "ostler keeps these files 1\n"

static const struct text_row {
    const char *name, *text;
    bool right;
    size_t files;
} text_rows[] = {
    { "none", HEAD, true, 0 },
    { "two", HEAD "644 3 /a\nabc\n- 0 /b\n\n", true, 2 },
    { "a line's end in the bytes", HEAD "644 3 /a\na\nc\n", true, 1 },
    { "of another version", "ostler keeps these files 2\n", false, 0 },
    { "empty", "", false, 0 },
    { "the bytes end early", HEAD "644 30 /a\nabc\n", false, 0 },
    { "more bytes than are said", HEAD "644 2 /a\nabc\n", false, 0 },
    { "a path from nowhere", HEAD "644 3 a\nabc\n", false, 0 },
    { "no permissions", HEAD "x 3 /a\nabc\n", false, 0 },
    { "permissions of a file that was not there", HEAD "- 3 /a\nabc\n", false, 0 },
    { "too large a number", HEAD "644 99999999999999999999 /a\nabc\n", false, 0 },
    { "a line without an end", HEAD "644 3 /a", false, 0 },
};

static void check_text(void **state)
{
    const struct text_row *row = *state;
    CLEANUP_KEPT struct kept kept = { 0 };
    assert_int_equal(kept_read(&kept, row->text, strlen(row->text)), row->right);
    if (row->right)
        assert_int_equal(kept.len, row->files);
}

static void what_is_no_file_cannot_be_kept(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_KEPT struct kept kept = { 0 };
    assert_int_equal(kept_add(&kept, "/tmp", &e), -1);
    assert_string_equal(err_msg(&e), "cannot keep a copy of /tmp: Invalid argument");
}

static void no_copies_are_no_error(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_KEPT struct kept kept = { 0 };
    assert_int_equal(kept_load(&kept, "/nowhere/copies", &e), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_text, text_rows);
    suite_add(&s, "what is no file cannot be kept", what_is_no_file_cannot_be_kept, NULL);
    suite_add(&s, "no copies on the disk are no error", no_copies_are_no_error, NULL);
    return suite_run(&s, "kept");
}
