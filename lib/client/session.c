#include "client/session.h"

#include "client/config_load.h"

int session_open(struct session *s, const struct session_options *o, struct err *e)
{
    *s = (struct session){ .clock = clock_system() };
    if (config_load(o->kubeconfig, o->context, &s->config, e) < 0)
        return -1;
    s->config.user_agent = xasprintf("%s/%s", o->program, o->version);
    s->http = http_new(&s->config, &s->clock, e);
    if (!s->http)
        return -1;
    s->transport = http_transport(s->http);
    return 0;
}

bool session_wait(struct session *s, const struct exchange *x, int64_t until_ms)
{
    while ((!x || x->id) && clock_mono_ms(&s->clock) < until_ms)
        http_wait(s->http, until_ms, -1);
    return x && !x->id;
}

void session_close(struct session *s)
{
    http_free(s->http);
    s->http = NULL;
    config_clear(&s->config);
}
