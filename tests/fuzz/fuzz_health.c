/* Any path and query of a probe: one of three statuses and a text within bounds. Input: the path, a
 * NUL, the query. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "serve/health.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `arg` is the sentence, or NULL. */
static char *says(void *arg)
{
    return arg ? xstrdup(arg) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct health_check checks[] = { { "loop", says, NULL },
                                                  { "api", says, "refused" } };
    static const struct health health = { "readyz", checks, ARRAY_LEN(checks) };
    CLEANUP_FREE char *path = xstrndup((const char *) data, size);
    size_t n = strlen(path);
    CLEANUP_FREE char *query = n < size ? xstrndup((const char *) data + n + 1, size - n - 1)
                                        : xstrdup("");
    CLEANUP_BUF struct buf out = BUF_INIT(4 << 20);
    int status = health_answer(&health, path, query, &out);
    assert(status == 200 || status == 404 || status == 500);
    assert(out.len > 0);
    assert((status == 404) == (*path != '\0' && !str_eq(path, "loop") && !str_eq(path, "api")));
    return 0;
}
