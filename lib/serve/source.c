#include "serve/source.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"

int source_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    (void) wsi, (void) in, (void) len;
    const struct source *source = user;
    if (reason == LWS_CALLBACK_RAW_RX_FILE)
        source->on_readable(source->arg);
    return 0;
}

struct lws *source_adopt(struct lws_context *context, int fd, void (*on_readable)(void *arg),
                         void *arg)
{
    lws_sock_file_fd_type d = { .filefd = fd };
    struct lws *wsi = lws_adopt_descriptor_vhost(lws_get_vhost_by_name(context, SOURCE_VHOST),
                                                 LWS_ADOPT_RAW_FILE_DESC, d, SOURCE_NAME, NULL);
    if (wsi)
        *(struct source *) lws_wsi_user(wsi) = (struct source){ on_readable, arg };
    return wsi;
}

static void on_library_log(int level, const char *line)
{
    (void) level;
    CLEANUP_FREE char *text = xstrndup(line, strcspn(line, "\n"));
    log_debug("libwebsockets", "line", text);
}

void source_log_library(void)
{
    lws_set_log_level(LLL_ERR | LLL_WARN, on_library_log);
}
