#include "node/gpus/gpus.h"

#include <poll.h>
#include <stdio.h>

#include "base/file.h"
#include "base/signals.h"
#include "node/gpus/keeper.h"

enum {
    LIMIT_MS = 20 * 1000, /* for a response; a GPU that was suspended takes some seconds */
    ASK_MS = 60 * 1000,   /* between questions */
};

int gpus_print(const struct root *host, struct err *e)
{
    CLEANUP_BUF struct buf said = BUF_INIT(KEEPER_SAID_MAX);
    struct asker a = { .helper = -1 };
    if (asker_open(&a, e) < 0)
        return -1;
    int rc = keeper_ask_driver(host, &a, NULL, LIMIT_MS, &said, e);
    asker_close(&a);
    if (rc == 0)
        fputs(buf_text(&said), stdout);
    return rc;
}

int gpus_keep(const struct root *host, const char *file, struct err *e)
{
    struct keeper k = { host, file, LIMIT_MS, .asker.helper = -1 };
    if (keeper_open(&k, e) < 0)
        return -1;
    CLEANUP_FD int signals = signals_open(0, e);
    struct pollfd told = { .fd = signals, .events = POLLIN };
    while (signals >= 0 && told.revents == 0) {
        keeper_turn(&k);
        poll(&told, 1, ASK_MS);
    }
    keeper_close(&k);
    return signals < 0 ? -1 : 0;
}
