/* Any answer gives one kind and one short sentence, and so does any answer to an eviction.
 * Input: two bytes for the HTTP status, then the body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "kube/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sentence goes into logs and conditions. */
static void check_sentence(int rc, const struct err *e)
{
    CLEANUP_JSON json_t *text = json_text(err_msg(e));
    if (rc != -1 || e->kind == ERR_NONE || strlen(err_msg(e)) > 1100 || strchr(err_msg(e), '\n') ||
        !text)
        abort();
}

static void check_eviction(int status, const char *body, size_t len)
{
    CLEANUP_ERR struct err e = { 0 };
    int64_t wait_ms = -1;
    check_sentence(reply_eviction_error(status, body, len, &e, &wait_ms), &e);
    if (wait_ms < 0 || (e.kind == ERR_BUDGET) != (wait_ms > 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    int status = 300 + (data[0] << 8 | data[1]) % 300;
    size_t len = size - 2;
    char *body = malloc(len ? len : 1); /* of its own, so that a byte too far is seen */
    memcpy(body, data + 2, len);
    CLEANUP_ERR struct err e = { 0 };
    check_sentence(reply_error(status, body, len, &e), &e);
    check_eviction(status, body, len);
    free(body);
    if (strncmp(err_msg(&e), "HTTP ", 5) != 0 || reply_kind(status, "") == ERR_NONE)
        abort();
    return 0;
}
