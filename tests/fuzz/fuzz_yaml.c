/* Any bytes: no crash, and what was read is read again from what the writer makes of it. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/err.h"
#include "base/json.h"
#include "base/yaml.h"
#include "tests/fuzz/floats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_lines *lines = NULL;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse((const char *) data, size, &lines, &e);
    if (!documents) {
        assert(e.kind == ERR_INVALID && *err_msg(&e));
        return 0;
    }
    yaml_line_of(lines, "spec.pools[1].name");
    yaml_lines_free(lines);
    CLEANUP_FREE char *text = yaml_dump(documents);
    CLEANUP_JSON json_t *again = yaml_parse(text, strlen(text), NULL, &e);
    /* a document gains one level by standing in the list, and its size may pass the limit by then
     */
    if (again && !has_float(documents))
        assert(json_equal(json_array_get(again, 0), documents) || json_array_size(documents) == 0);
    return 0;
}
