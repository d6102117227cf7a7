#include "client/read_only.h"

/* The id of all dropped requests; no transport returns it. */
static const uint64_t swallowed = UINT64_MAX;

static uint64_t read_only_submit(void *self, struct request *request_steal,
                                 const struct transport_sink *sink)
{
    const struct transport *to = self;
    if (request_steal->class == REQUEST_READ)
        return transport_submit(to, request_steal, sink);
    request_clear(request_steal);
    return swallowed;
}

static void read_only_cancel(void *self, uint64_t id)
{
    const struct transport *to = self;
    if (id != swallowed)
        transport_cancel(to, id);
}

struct transport read_only(const struct transport *to)
{
    return (struct transport){ .submit = read_only_submit,
                               .cancel = read_only_cancel,
                               .self = (void *) to };
}
