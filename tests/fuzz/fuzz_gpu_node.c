/* Any JSON as a GpuNode, which anybody with the right may have written: no crash; what is
 * remembered of it is within its bounds, and reading it twice gives the same. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/gpu_node.h"

static void check_holders(const struct node_holders *h)
{
    if (!h)
        return;
    if (h->host_count + h->pod_count == 0 || h->host_count + h->pod_count > NODE_HOLDERS_MAX)
        abort();
    for (size_t i = 0; i < h->host_count; i++)
        if (h->hosts[i].pid < 0 || strnlen(h->hosts[i].process, HOLDER_NAME_MAX) == HOLDER_NAME_MAX)
            abort();
}

static bool is_address(const char *text)
{
    size_t len = strnlen(text, HEALTH_ADDRESS_MAX);
    return len >= 12 && len < HEALTH_ADDRESS_MAX && strspn(text, "0123456789abcdef:.") == len;
}

static void check_health(const struct node_health *h)
{
    if (!h)
        return;
    if (h->gpus_len + h->faults_len == 0 || h->gpus_len > HEALTH_GPUS_MAX ||
        h->faults_len > HEALTH_FAULTS_MAX)
        abort();
    for (size_t i = 0; i < h->gpus_len; i++)
        if (!is_address(h->gpus[i].address) || h->gpus[i].recovery >= RECOVERIES ||
            h->gpus[i].fabric > FABRIC_UNHEALTHY ||
            strnlen(h->gpus[i].serial, SERIAL_MAX) == SERIAL_MAX)
            abort();
    for (size_t i = 0; i < h->faults_len; i++)
        if (!is_address(h->faults[i].address) || h->faults[i].recovery >= RECOVERIES ||
            h->faults[i].count < 1 || (i > 0 && h->faults[i].last_s < h->faults[i - 1].last_s))
            abort();
}

static void check_stages(const struct node_stages *s)
{
    for (int i = 0; i < STAGE_COUNT; i++)
        if (s->reached[i] && !s->seen_s)
            abort();
    json_decref(node_stages_json(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const struct log_tail *words)
{
    if (!words)
        return;
    struct log_tail *copy = log_tail_new(words->pod, words->container, words->text);
    if (strlen(words->text) > LAST_WORDS_MAX || !str_eq(copy->text, words->text) ||
        !str_eq(copy->pod, words->pod) || !str_eq(copy->container, words->container))
        abort();
    log_tail_free(copy);
}

static void check_inventory(const struct node_inventory *i)
{
    if (!i)
        return;
    if (i->gpus + i->lost > INVENTORY_GPUS_MAX || i->driven + i->nouveau + i->passed_on > i->gpus ||
        i->absent_looks > INVENTORY_ABSENT_LOOKS ||
        strnlen(i->lost_address, sizeof i->lost_address) == sizeof i->lost_address ||
        strnlen(i->module_version, sizeof i->module_version) == sizeof i->module_version ||
        (node_inventory_shows_none(i) && i->gpus + i->lost > 0))
        abort();
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
    check_inventory(a->inventory);
    check_holders(a->holders);
    check_health(a->health);
    check_stages(&a->stages);
    gpu_node_free(a);
    gpu_node_free(b);
    return 0;
}
