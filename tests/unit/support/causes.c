#include "tests/unit/support/causes.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

enum { TEXT_MAX = 1 << 20, MESSAGE_MAX = 120 };

char *causes_text(const struct refusal *r)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    size_t i;
    json_t *cause;
    json_array_foreach (json_object_get(r->details, "causes"), i, cause) {
        CLEANUP_FREE char *message = str_shortened(json_str_or_empty(cause, "message"),
                                                   MESSAGE_MAX);
        const char *reason = json_str_or_empty(cause, "reason");
        buf_printf(&b, "%s %s: %s\n", str_has_prefix(reason, "FieldValue") ? reason + 10 : reason,
                   json_str_or_empty(cause, "field"), message);
    }
    return buf_take(&b);
}
