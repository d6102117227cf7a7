/* The table of Services. */
#include "sim/api/table.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/state.h"

static json_t *cell_cluster_ip(const struct cell *c)
{
    const char *ip = json_string_value(json_array_get(json_at(c->object, "spec.clusterIPs"), 0));
    return json_text(ip ? ip : c->empty);
}

static void add_text(struct buf *out, const char *text)
{
    if (*text)
        buf_printf(out, "%s%s", out->len ? "," : "", text);
}

/* External addresses: from a load balancer and from the service itself. */
static json_t *cell_external_ip(const struct cell *c)
{
    const char *type = json_str_or_empty(c->object, "spec.type");
    if (str_eq(type, "ExternalName"))
        return json_text(json_str_or_empty(c->object, "spec.externalName"));
    bool balanced = str_eq(type, "LoadBalancer");
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    if (balanced)
        JSON_EACH_AT (i, item, json_at(c->object, "status.loadBalancer.ingress")) {
            const char *ip = json_str_or_empty(item, "ip");
            add_text(&out, *ip ? ip : json_str_or_empty(item, "hostname"));
        }
    JSON_EACH_AT (i, item, json_at(c->object, "spec.externalIPs"))
        add_text(&out, str_or_empty(json_string_value(item)));
    return json_text(out.len ? buf_text(&out) : balanced ? "<pending>" : "<none>");
}

static json_t *cell_ports(const struct cell *c)
{
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    JSON_EACH_AT (i, port, json_at(c->object, "spec.ports")) {
        int64_t on_nodes = json_int(port, "nodePort", 0);
        buf_printf(&out, "%s%" PRId64, i ? "," : "", json_int(port, "port", 0));
        if (on_nodes > 0)
            buf_printf(&out, ":%" PRId64, on_nodes);
        buf_printf(&out, "/%s", json_str_or_empty(port, "protocol"));
    }
    return json_text(out.len ? buf_text(&out) : c->empty);
}

static const struct column service_columns[] = {
    COLUMN_NAME,
    { "Type", "string", 0, cell_text, "spec.type", NULL },
    { "Cluster-IP", "string", 0, cell_cluster_ip, "", "<none>" },
    { "External-IP", "string", 0, cell_external_ip, "", NULL },
    { "Port(s)", "string", 0, cell_ports, "", "<none>" },
    COLUMN_AGE,
    { "Selector", "string", 1, cell_labels, "spec.selector", NULL },
};
const struct columns columns_of_service = COLUMNS(service_columns);
