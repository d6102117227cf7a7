#include "kube/transport.h"

int64_t transport_retry_after_ms(int64_t seconds)
{
    return (seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}

uint64_t transport_submit(const struct transport *t, struct request *request_steal,
                          const struct transport_sink *sink)
{
    return t->submit(t->self, request_steal, sink);
}

void transport_cancel(const struct transport *t, uint64_t id)
{
    t->cancel(t->self, id);
}
