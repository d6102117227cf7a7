#include "kube/transport.h"

uint64_t transport_submit(const struct transport *t, struct request *request_steal, const struct transport_sink *sink)
{
    return t->submit(t->self, request_steal, sink);
}

void transport_cancel(const struct transport *t, uint64_t id)
{
    t->cancel(t->self, id);
}
