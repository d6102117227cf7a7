/* Any answer gives one kind and one short sentence.
 * Input: two bytes for the HTTP status, then the body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "kube/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    int status = 300 + (data[0] << 8 | data[1]) % 300;
    size_t len = size - 2;
    char *body = malloc(len ? len : 1); /* of its own, so that a byte too far is seen */
    memcpy(body, data + 2, len);
    CLEANUP_ERR struct err e = { 0 };
    int rc = reply_error(status, body, len, &e);
    free(body);
    if (rc != -1 || e.kind == ERR_NONE || strncmp(err_msg(&e), "HTTP ", 5) != 0 || strlen(err_msg(&e)) > 1100)
        abort();
    if (reply_kind(status, "") == ERR_NONE)
        abort();
    /* The sentence goes into logs and conditions. */
    CLEANUP_JSON json_t *text = json_text(err_msg(&e));
    if (!text)
        abort();
    return 0;
}
