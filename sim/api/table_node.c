/* The table of Nodes. */
#include "sim/api/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "sim/api/state.h"
#include "sim/api/text.h"

#define ROLE_PREFIX "node-role.kubernetes.io/"
#define ROLE_LABEL "kubernetes.io/role"

static json_t *cell_status(const struct cell *c)
{
    const char *ready = condition_status(json_at(c->object, "status.conditions"), "Ready");
    const char *status = !*ready ? "Unknown" : str_eq(ready, "True") ? "Ready" : "NotReady";
    return json_textf("%s%s", status,
                      json_bool(c->object, "spec.unschedulable", false) ? ",SchedulingDisabled"
                                                                        : "");
}

/* The role that a label gives to a node; "" if none. */
static const char *role_of(const char *label, const json_t *value)
{
    if (str_has_prefix(label, ROLE_PREFIX))
        return label + strlen(ROLE_PREFIX);
    return str_eq(label, ROLE_LABEL) ? str_or_empty(json_string_value(value)) : "";
}

static json_t *cell_roles(const struct cell *c)
{
    const json_t *labels = json_at(c->object, "metadata.labels");
    CLEANUP_FREE const char **roles = xcalloc(json_object_size(labels) + 1, sizeof *roles);
    size_t n = 0;
    JSON_EACH_MEMBER (label, value, labels)
        if (*role_of(label, value))
            roles[n++] = role_of(label, value);
    text_sort(roles, n);
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(roles[i], roles[i - 1]))
            buf_printf(&out, "%s%s", i ? "," : "", roles[i]);
    return json_text(n ? buf_text(&out) : c->empty);
}

/* The first address of the type that the path names. */
static json_t *cell_address(const struct cell *c)
{
    const json_t *address = json_find(json_at(c->object, "status.addresses"), "type", c->path);
    return json_text(address ? json_str_or_empty(address, "address") : c->empty);
}

static json_t *cell_kernel(const struct cell *c)
{
    const char *kernel = json_str_or_empty(c->object, c->path);
    const char *architecture = json_str_or_empty(c->object, "status.nodeInfo.architecture");
    if (!*kernel)
        kernel = c->empty;
    return *architecture ? json_textf("%s (%s)", kernel, architecture) : json_text(kernel);
}

static const struct column node_columns[] = {
    COLUMN_NAME,
    { "Status", "string", 0, cell_status, "", NULL },
    { "Roles", "string", 0, cell_roles, "", "<none>" },
    COLUMN_AGE,
    { "Version", "string", 0, cell_text, "status.nodeInfo.kubeletVersion", NULL },
    { "Internal-IP", "string", 1, cell_address, "InternalIP", "<none>" },
    { "External-IP", "string", 1, cell_address, "ExternalIP", "<none>" },
    { "OS-Image", "string", 1, cell_text, "status.nodeInfo.osImage", "<unknown>" },
    { "Kernel-Version", "string", 1, cell_kernel, "status.nodeInfo.kernelVersion", "<unknown>" },
    { "Container-Runtime", "string", 1, cell_text, "status.nodeInfo.containerRuntimeVersion",
      "<unknown>" },
};
const struct columns columns_of_node = COLUMNS(node_columns);
