/* Any bytes as an object in protobuf: no crash; what is one says its kind and has the same text
 * each time. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "sim/api/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *object = protobuf_object((const char *) data, size, &e);
    if (!object != (e.kind != ERR_NONE))
        abort();
    if (!object)
        return 0;
    CLEANUP_FREE char *text = json_compact(object);
    if (!text || !json_str(object, "kind") || !json_str(object, "apiVersion"))
        abort();
    return 0;
}
