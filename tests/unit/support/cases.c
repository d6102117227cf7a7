#include "tests/unit/support/cases.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

static int is_case(const struct dirent *entry)
{
    return str_has_suffix(entry->d_name, ".yaml");
}

int cases_run(const char *group, const char *folder, CMUnitTestFunction check)
{
    struct suite s = { 0 };
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_case, alphasort);
    char **paths = xcalloc(n > 0 ? (size_t) n : 1, sizeof *paths);
    for (int i = 0; i < n; i++) {
        paths[i] = xasprintf("%s/%s", folder, entries[i]->d_name);
        suite_add(&s, paths[i], check, paths[i]);
        free(entries[i]);
    }
    free(entries);
    int failed = suite_run(&s, group);
    for (int i = 0; i < n; i++)
        free(paths[i]);
    free(paths);
    return n > 0 ? failed : 1;
}
