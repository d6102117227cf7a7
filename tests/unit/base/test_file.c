#include "base/file.h"

#include "base/mem.h"
#include "tests/unit/support/suite.h"

/* ---- what one file calls another */

static const struct row {
    const char *name, *file, *path, *want;
} rows[] = {
    { "in the same folder", "tests/a.yaml", "b.yaml", "tests/b.yaml" },
    { "in another folder", "/etc/a", "../b/c", "/etc/../b/c" },
    { "an absolute path", "tests/a.yaml", "/etc/b", "/etc/b" },
    { "a file of the working folder", "a.yaml", "b.yaml", "b.yaml" },
    { "standard input", "-", "b.yaml", "b.yaml" },
    { "a file of the root folder", "/a", "b", "/b" },
};

static void is_found_from_its_folder(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *got = file_beside(row->file, row->path);
    assert_string_equal(got, row->want);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, is_found_from_its_folder, rows);
    return suite_run(&s, "file");
}
