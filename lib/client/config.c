#include "client/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "client/limits.h"
#include "client/plugin.h"

static void refresh_files(struct config *c)
{
    for (enum material_kind kind = 0; kind < MATERIAL_COUNT; kind++) {
        CLEANUP_ERR struct err e = { 0 };
        int changed = material_reread(&c->materials[kind], kind, &e);
        if (changed < 0)
            log_warn("cannot renew the credentials: Ostler keeps the old ones", "reason",
                     err_msg(&e));
        if (changed <= 0)
            continue;
        log_info("credentials were renewed", "what", material_name(kind), "file",
                 c->materials[kind].path);
        c->tls_generation += kind != MATERIAL_TOKEN;
    }
}

/* The `status` of an ExecCredential. */
static int take_credential(struct config *c, const json_t *status, int64_t now_ms, struct err *e)
{
    static const struct {
        const char *field;
        enum material_kind kind;
    } fields[] = { { "token", MATERIAL_TOKEN },
                   { "clientCertificateData", MATERIAL_CERTIFICATE },
                   { "clientKeyData", MATERIAL_KEY } };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const char *text = json_key(status, fields[i].field);
        if (!text)
            continue;
        if (material_set(&c->materials[fields[i].kind], fields[i].kind, text, strlen(text), e) < 0)
            return err_wrap(e, "the credential program's %s", fields[i].field);
        c->tls_generation += fields[i].kind == MATERIAL_CERTIFICATE;
    }
    const struct clock clock = clock_system();
    const char *expiry = json_key(status, "expirationTimestamp");
    int64_t expiry_us = expiry ? clock_parse_rfc3339(expiry) : -1;
    int64_t valid_ms = (expiry_us - clock_wall_us(&clock)) / 1000 - PLUGIN_MARGIN_MS;
    c->renew_at_ms = expiry_us < 0
                         ? INT64_MAX
                         : now_ms + (valid_ms > PLUGIN_PAUSE_MS ? valid_ms : PLUGIN_PAUSE_MS);
    return 0;
}

int config_run_plugin(struct config *c, struct err *e)
{
    const struct clock clock = clock_system();
    CLEANUP_JSON json_t *status = NULL;
    c->ran_at_ms = clock_mono_ms(&clock);
    if (plugin_run(c->plugin, &status, e) < 0)
        return -1;
    return take_credential(c, status, clock_mono_ms(&clock), e);
}

/* Starts the plugin if it is due, or checks whether it is done. */
static void refresh_plugin(struct config *c, int64_t now_ms)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *status = NULL;
    int rc = 0;
    if (plugin_is_running(c->plugin)) {
        rc = plugin_poll(c->plugin, now_ms, &status, &e);
        if (rc > 0)
            rc = take_credential(c, status, now_ms, &e);
    } else if (now_ms >= c->renew_at_ms) {
        c->ran_at_ms = now_ms;
        c->renew_at_ms = now_ms + PLUGIN_PAUSE_MS; /* until it sets its own time */
        rc = plugin_start(c->plugin, now_ms, &e);
    }
    if (rc < 0)
        log_warn("cannot renew the credentials: Ostler keeps the old ones", "reason", err_msg(&e));
}

void config_refresh(struct config *c, int64_t now_ms)
{
    if (c->plugin)
        refresh_plugin(c, now_ms);
    if (now_ms < c->reread_at_ms)
        return;
    c->reread_at_ms = now_ms + CREDENTIAL_REREAD_MS;
    refresh_files(c);
}

void config_doubt(struct config *c)
{
    c->reread_at_ms = 0;
    if (c->renew_at_ms > c->ran_at_ms + PLUGIN_PAUSE_MS)
        c->renew_at_ms = c->ran_at_ms + PLUGIN_PAUSE_MS;
}

const char *config_token(const struct config *c)
{
    return c->server.tls ? c->materials[MATERIAL_TOKEN].bytes : NULL;
}

void config_clear(struct config *c)
{
    endpoint_clear(&c->server);
    free(c->description);
    free(c->namespace);
    free(c->user_agent);
    free(c->tls_server_name);
    free(c->proxy_url);
    for (enum material_kind kind = 0; kind < MATERIAL_COUNT; kind++)
        material_clear(&c->materials[kind]);
    plugin_free(c->plugin);
    *c = (struct config){ 0 };
}
