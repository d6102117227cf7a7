#include "node/gpus/keeper.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "node/gpus/kept.h"
#include "node/inventory/os.h"

enum { FIRST_MAX = BOOT_ID_MAX + 32 };

int keeper_open(struct keeper *k, struct err *e)
{
    return asker_open(&k->asker, e);
}

void keeper_close(struct keeper *k)
{
    asker_close(&k->asker);
    err_clear(&k->failure);
}

int keeper_ask_driver(const struct root *host, struct asker *a, const char *gpus, int64_t limit_ms,
                      struct buf *ret, struct err *e)
{
    CLEANUP_DRIVER_ROOT struct driver_root d = { .root.fd = -1 };
    if (driver_root_find(host, &d, e) < 0)
        return -1;
    return asker_ask(a, &(struct question){ &d, gpus, limit_ms }, ret, e);
}

/* The lines before the question that has no answer. */
static struct part answered(struct part said, const char *unanswered)
{
    struct part rest = said;
    struct nvml_line line;
    while (*unanswered && nvml_next(&rest, &line))
        if (line.kind == NVML_ASKS && part_is(line.address, unanswered))
            return (struct part){ said.at, (size_t) (line.text.at - said.at) };
    return said;
}

/* Asks, and remembers which GPU hangs. If all of them together take too long, what they said until
 * then counts, and the one that was asked last comes last from then on. */
static struct answer keeper_ask(struct keeper *k, struct view *v, struct buf *said, struct err *e)
{
    CLEANUP_BUF struct buf gpus = BUF_INIT(ORDER_MAX);
    char last[CARD_ADDRESS_MAX + 1];
    order_gpus(v, &k->hung, &gpus);
    int rc = keeper_ask_driver(k->host, &k->asker, gpus.len ? buf_text(&gpus) : NULL, k->limit_ms,
                               said, e);
    bool hung = rc < 0 && e->kind == ERR_TIMEOUT, slow = rc < 0 && e->kind == ERR_TOO_LARGE;
    /* As long as an earlier process hangs, nothing else is known. */
    if (rc < 0 && !hung && asker_is_stuck(&k->asker))
        return (struct answer){ PART(""), k->hangs };
    order_take(&k->hung, part_of_buf(said), last);
    snprintf(k->hangs, sizeof k->hangs, "%s", hung ? last : "");
    if (*last && (hung || slow))
        order_add(&k->hung, last);
    if (slow)
        return (struct answer){ answered(part_of_buf(said), last), k->hangs };
    return (struct answer){ rc == 0 || hung ? part_of_buf(said) : PART(""), k->hangs };
}

/* Logs what differs from the last question. */
static void keeper_log(struct keeper *k, struct err *e, bool wrote)
{
    if (e->kind == ERR_NONE && wrote)
        log_info("the driver reported its GPUs", "file", k->file);
    if (e->kind != ERR_NONE && !str_eq(err_msg(e), err_msg(&k->failure)))
        log_warn("the driver has not reported its GPUs; asking again", "err", err_msg(e), "gpu",
                 *k->hangs ? k->hangs : "not known");
    err_clear(&k->failure);
    k->failure = err_take(e);
}

void keeper_turn(struct keeper *k)
{
    CLEANUP_VIEW struct view v = { .root = k->host };
    CLEANUP_BUF struct buf said = BUF_INIT(KEEPER_SAID_MAX);
    CLEANUP_ERR struct err e = { 0 }, write = { 0 };
    const char *boot_id;
    char first[FIRST_MAX];
    bool wrote = false;
    uint64_t layout = nvml_layout(&v);
    if (layout == 0 ||
        view_text(&v, "proc/sys/kernel/random/boot_id", BOOT_ID_MAX, &boot_id) != SEEN || !boot_id)
        return;
    snprintf(first, sizeof first, "%s %016" PRIx64, boot_id, layout);
    struct answer answer = keeper_ask(k, &v, &said, &e);
    int rc = kept_put(k->file, first, &answer, &wrote, &write);
    keeper_log(k, rc < 0 ? &write : &e, wrote);
}
