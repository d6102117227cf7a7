/* Any JSON as a GpuNode, which anybody with the right may have written: no crash; what is remembered of it is within its bounds,
 * and reading it twice gives the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/gpu_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const struct last_words *words)
{
    if (!words)
        return;
    struct last_words *copy = last_words_copy(words);
    if (strlen(words->text) > LAST_WORDS_MAX || !str_eq(copy->text, words->text) || !str_eq(copy->pod, words->pod) ||
        !str_eq(copy->container, words->container))
        abort();
    last_words_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_JSON json_t *object = json_parse((const char *) data, size, NULL);
    if (!json_is_object(object))
        return 0;
    struct gpu_node *a = gpu_node_project(object), *b = gpu_node_project(object);
    if (!gpu_node_same(a, b) || strlen(a->state) >= GPU_NODE_STATE_MAX || a->since_s < 0)
        abort();
    check_words(a->words);
    gpu_node_free(a);
    gpu_node_free(b);
    return 0;
}
