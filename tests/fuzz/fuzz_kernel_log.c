/* Any kernel log, read twice: once up to a place in it, then the whole. What is kept of it is
 * bounded and in order, no fault has a higher count than there are lines, no line of a process
 * counts, and the same log again is no news. Then the same with what a GpuNode may report. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "node/inventory/faults.h"
#include "node/inventory/kernel_log.h"

enum { US = 1000 * 1000, NOW_S = 1700000000 };

#define BOOT_ID "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An upper limit of the faults in it: the messages of the kernel itself. */
static size_t messages_of_kernel(struct part text)
{
    const char *from = text.at;
    struct kernel_log_line line = { 0 };
    size_t count = 0;
    while (kernel_log_next(&text, &line)) {
        if (line.whole.at < from || line.whole.at + line.whole.len > text.at ||
            line.text.len >= line.whole.len || line.stamp_us < -1)
            abort();
        count += line.by_kernel && !line.continues;
    }
    return count;
}

static void check(const struct faults *f, size_t most, int64_t now_s)
{
    static const struct pci_bus bus;
    CLEANUP_JSON json_t *json = faults_json(f, &bus, BOOT_ID);
    size_t sum = 0;
    if (f->len > FAULTS_MAX || json_array_size(json) != f->len)
        abort();
    for (size_t i = 0; i < f->len; i++) {
        const struct logged_fault *fault = &f->items[i];
        if (fault->count < 1 || fault->first_s < 0 || (!*fault->boot && fault->last_s > now_s) ||
            (i > 0 && f->items[i - 1].last_s > fault->last_s) ||
            !pci_is_address(json_str(json_array_get(json, i), "address")))
            abort();
        sum += fault->count;
    }
    if (sum > most)
        abort();
}

static void check_log(struct part text, size_t first)
{
    struct faults f = { 0 };
    bool news;
    size_t most = messages_of_kernel(text);
    if (!kernel_log_has_stamps(text) || !kernel_log_has_stamps((struct part){ text.at, first }))
        return;
    faults_take(&f, (struct part){ text.at, first }, true,
                (struct log_time){ (int64_t) NOW_S * US, 1000LL * US }, &news);
    /* A line that was cut may be another one when it is whole. */
    check(&f, most, NOW_S);
    faults_take(&f, text, true, (struct log_time){ (NOW_S + 10LL) * US, 1010LL * US }, &news);
    check(&f, 2 * most, NOW_S + 10);
    faults_take(&f, text, true, (struct log_time){ (NOW_S + 20LL) * US, 1020LL * US }, &news);
    if (news)
        abort();
}

static void check_join(struct part text)
{
    struct faults f;
    CLEANUP_JSON json_t *said = json_parse(text.at, text.len, NULL);
    faults_join(&f, said, BOOT_ID, NOW_S);
    f.read_s = NOW_S;
    check(&f, SIZE_MAX, NOW_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    /* The last byte says where the first reading ends. */
    size_t first = size ? data[size - 1] * size / 256 : 0;
    check_log((struct part){ text, size }, first);
    check_join((struct part){ text, size });
    free(text);
    return 0;
}
