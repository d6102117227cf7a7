#include "node/gpus/gpus.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/signals.h"
#include "node/gpus/ask.h"
#include "node/inventory/nvml.h"
#include "node/inventory/os.h"

enum {
    LIMIT_MS = 20 * 1000,      /* for a response; a GPU that was suspended takes some seconds */
    LOOK_MS = 60 * 1000,       /* between checks for changes, which do not use NVML */
    AGAIN_MS = 10 * 60 * 1000, /* until the retry after a failure */
};

struct keeper {
    const struct root *host;
    const char *file;
    struct asker asker;
    uint64_t asked;   /* nvml_layout() of the last query; 0: none */
    int64_t again_ms; /* time of the retry after a failure; 0: the last query succeeded */
};

static int gpus_ask(const struct root *host, struct asker *a, struct buf *ret, struct err *e)
{
    CLEANUP_DRIVER_ROOT struct driver_root d = { .root.fd = -1 };
    if (driver_root_find(host, &d, e) < 0)
        return -1;
    return asker_ask(a, &d, LIMIT_MS, ret, e);
}

int gpus_print(const struct root *host, struct err *e)
{
    CLEANUP_BUF struct buf said = BUF_INIT(NVML_TEXT_MAX / 2);
    struct asker a = { .helper = -1 };
    if (asker_open(&a, e) < 0)
        return -1;
    int rc = gpus_ask(host, &a, &said, e);
    asker_close(&a);
    if (rc == 0)
        fputs(buf_text(&said), stdout);
    return rc;
}

static int ask_and_put(struct keeper *k, const char *boot_id, uint64_t layout, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(NVML_TEXT_MAX), said = BUF_INIT(NVML_TEXT_MAX / 2);
    buf_printf(&text, "%s %016" PRIx64 "\n", boot_id, layout);
    if (gpus_ask(k->host, &k->asker, &said, e) < 0)
        return -1;
    buf_str(&text, buf_text(&said));
    return file_write(k->file, 0644, text.data, text.len, e);
}

static void gpus_look(struct keeper *k)
{
    CLEANUP_VIEW struct view v = { .root = k->host };
    CLEANUP_ERR struct err e = { 0 };
    const char *boot_id;
    uint64_t layout = nvml_layout(&v);
    int64_t now_ms = clock_now_ms();
    if (layout == 0 ||
        view_text(&v, "proc/sys/kernel/random/boot_id", BOOT_ID_MAX, &boot_id) != SEEN || !boot_id)
        return;
    if (layout == k->asked && (k->again_ms == 0 || now_ms < k->again_ms))
        return;
    k->asked = layout;
    bool done = ask_and_put(k, boot_id, layout, &e) == 0;
    k->again_ms = done ? 0 : now_ms + AGAIN_MS;
    if (done)
        log_info("the driver reported its GPUs", "file", k->file);
    else
        log_warn("the driver has not reported its GPUs; asking again", "err", err_msg(&e));
}

int gpus_keep(const struct root *host, const char *file, struct err *e)
{
    struct keeper k = { .host = host, .file = file, .asker.helper = -1 };
    if (asker_open(&k.asker, e) < 0)
        return -1;
    CLEANUP_FD int signals = signals_open(0, e);
    struct pollfd told = { .fd = signals, .events = POLLIN };
    while (signals >= 0 && told.revents == 0) {
        gpus_look(&k);
        poll(&told, 1, LOOK_MS);
    }
    asker_close(&k.asker);
    return signals < 0 ? -1 : 0;
}
