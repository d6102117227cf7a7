/* Any configuration of a runtime, a kubelet or k3s: a version is small, and what is taken lies
 * within the text and has no white space and no quote in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/inventory/handlers.h"
#include "node/inventory/kubelet.h"
#include "node/inventory/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct part p, const char *text, size_t size)
{
    if (p.len && (p.at < text || p.at + p.len > text + size))
        abort();
    for (size_t i = 0; i < p.len; i++)
        if (p.at[i] && strchr(" \t\r\n\"'\\", p.at[i]))
            abort();
}

static void check_within(struct part p, const char *text, size_t size)
{
    if (p.len && (p.at < text || p.at + p.len > text + size))
        abort();
}

static void check_handlers(const char *text, size_t size)
{
    struct handlers h;
    handlers_read((struct part){ text, size }, &h);
    if (h.len > HANDLERS_MAX || h.imports_len > IMPORTS_MAX)
        abort();
    for (size_t i = 0; i < h.len; i++) {
        check_within(h.items[i].name, text, size);
        check_within(h.items[i].program, text, size);
    }
    for (size_t i = 0; i < h.imports_len; i++)
        check_within(h.imports[i], text, size);
    check_within(h.standard, text, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    int version = runtime_config_version((struct part){ text, size });
    if (version < 0 || version > 99)
        abort();
    check(kubelet_endpoint((struct part){ text, size }), text, size);
    check(rancher_folder_of_unit((struct part){ text, size }), text, size);
    check(rancher_folder_of_config((struct part){ text, size }), text, size);
    check_handlers(text, size);
    free(text);
    return 0;
}
