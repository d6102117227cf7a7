/* Validation of containers, as the API server has it. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/quantity.h"
#include "sim/api/validate.h"

static const char *const pull_policies[] = { "Always", "IfNotPresent", "Never", NULL };
static const char *const message_policies[] = { "File", "FallbackToLogsOnError", NULL };
static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
static const char *const schemes[] = { "HTTP", "HTTPS", NULL };

/* The actions of a probe or a hook: exactly one of them. */
static const char *const actions[] = { "exec", "httpGet", "tcpSocket", "grpc", "sleep" };
static const char *const probe_numbers[] = { "initialDelaySeconds", "timeoutSeconds",
                                             "periodSeconds",       "successThreshold",
                                             "failureThreshold",    NULL };

/* ---- ports and environment */

static void validate_container_port(const json_t *port, const struct spot *at, struct refusal *r)
{
    const struct spot *number = SPOT(at, "containerPort");
    if (json_object_get(port, "name"))
        validate_port_name(json_str_or_empty(port, "name"), SPOT(at, "name"), r);
    if (json_int(port, "containerPort", 0) == 0)
        spot_required(r, number, "");
    else
        validate_port(json_object_get(port, "containerPort"), number, r);
    validate_port(json_object_get(port, "hostPort"), SPOT(at, "hostPort"), r);
    validate_word(port, "protocol", protocols, at, r);
}

/* What a field reference may name: prefixes with a key in brackets, and whole paths. */
static const char *const downward_fields[] = {
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.labels",
    "metadata.annotations",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
    NULL,
};

static bool is_downward_field(const char *path)
{
    return str_has_prefix(path, "metadata.labels['") ||
           str_has_prefix(path, "metadata.annotations['") || str_is_any_of(path, downward_fields);
}

static void validate_env_source(const json_t *variable, const struct spot *at, struct refusal *r)
{
    const json_t *source = json_object_get(variable, "valueFrom");
    const struct spot *here = SPOT(at, "valueFrom");
    if (!source)
        return;
    const json_t *ref = json_object_get(source, "fieldRef");
    if (ref && !is_downward_field(json_str_or_empty(ref, "fieldPath")))
        spot_invalid_text(r, SPOT(SPOT(here, "fieldRef"), "fieldPath"),
                          json_str_or_empty(ref, "fieldPath"),
                          "error converting fieldPath: field label not supported: %s",
                          json_str_or_empty(ref, "fieldPath"));
    if (json_object_size(source) == 0)
        spot_invalid_text(r, here, "",
                          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                          "`secretKeyRef` or `fileKeyRef`");
    else if (json_object_size(source) > 1)
        spot_invalid_text(r, here, "", "may not have more than one field specified at a time");
    if (*json_str_or_empty(variable, "value"))
        spot_invalid_text(r, here, "", "may not be specified when `value` is not empty");
}

static void validate_variable(const json_t *variable, const struct spot *at, struct refusal *r)
{
    const char *name = json_str_or_empty(variable, "name");
    bool printable = !strchr(name, '=');
    for (const char *p = name; *p; p++)
        printable = printable && isascii(*p) && isprint(*p);
    validate_required(variable, "name", at, r);
    if (!printable)
        spot_invalid_text(r, SPOT(at, "name"), name,
                          "a valid environment variable name must consist only of printable ASCII "
                          "characters other than '='");
    validate_env_source(variable, at, r);
}

/* ---- mounts */

static void validate_mounts(const json_t *mounts, const json_t *volumes, const struct spot *at,
                            struct refusal *r)
{
    CLEANUP_JSON json_t *paths = json_object();
    JSON_EACH_AT (i, mount, mounts) {
        const struct spot *here = SPOT_ITEM(at, i);
        const char *name = json_str_or_empty(mount, "name"),
                   *path = json_str_or_empty(mount, "mountPath");
        validate_required(mount, "name", here, r);
        if (!json_object_get(volumes, name))
            spot_not_found(r, SPOT(here, "name"), name);
        validate_required(mount, "mountPath", here, r);
        if (*path && !validate_first(paths, path))
            spot_invalid_text(r, SPOT(here, "mountPath"), path, "must be unique");
    }
}

/* ---- probes and hooks */

static void validate_http(const json_t *get, const struct spot *at, struct refusal *r)
{
    validate_required(get, "path", at, r);
    validate_port_reference(get, "port", at, r);
    validate_word(get, "scheme", schemes, at, r);
}

/* Exactly one action, which must be valid. */
static void validate_action(const json_t *handler, const struct spot *at, struct refusal *r)
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        const json_t *action = json_object_get(handler, actions[i]);
        const struct spot *here = SPOT(at, actions[i]);
        if (!action)
            continue;
        if (count++ > 0)
            spot_forbidden(r, here, "may not specify more than 1 handler type");
        else if (i == 0 && json_array_size(json_object_get(action, "command")) == 0)
            spot_required(r, SPOT(here, "command"), "");
        else if (i == 1)
            validate_http(action, here, r);
    }
    if (count == 0)
        spot_required(r, at, "must specify a handler type");
}

static void validate_probe(const json_t *container, const char *key, bool once,
                           const struct spot *at, struct refusal *r)
{
    const json_t *probe = json_object_get(container, key);
    const struct spot *here = SPOT(at, key);
    if (!probe)
        return;
    validate_action(probe, here, r);
    validate_none_negative(probe, probe_numbers, here, r);
    if (once && json_int(probe, "successThreshold", 1) != 1)
        spot_invalid(r, SPOT(here, "successThreshold"), json_object_get(probe, "successThreshold"),
                     "must be 1");
}

static void validate_probes(const json_t *container, const struct spot *at, struct refusal *r)
{
    validate_probe(container, "livenessProbe", true, at, r);
    validate_probe(container, "readinessProbe", false, at, r);
    validate_probe(container, "startupProbe", true, at, r);
    JSON_EACH_MEMBER (key, hook, json_object_get(container, "lifecycle"))
        if (!str_eq(key, "stopSignal"))
            validate_action(hook, SPOT(SPOT(at, "lifecycle"), key), r);
}

/* ---- resources */

static const char *const plain_resources[] = { "cpu", "memory", "ephemeral-storage", NULL };

static void validate_amounts(const json_t *amounts, const struct spot *at, struct refusal *r)
{
    JSON_EACH_MEMBER (name, amount, amounts) {
        const struct spot *here = SPOT_KEY(at, name);
        bool plain = str_has_prefix(name, "hugepages-") || str_is_any_of(name, plain_resources);
        if (!plain && !strchr(name, '/')) {
            spot_invalid_text(r, here, name, "must be a standard resource type or fully qualified");
            spot_invalid_text(r, here, name, "must be a standard resource for containers");
        }
        validate_quantity(amount, !plain, here, r);
    }
}

/* A request is at most the limit; for resources in whole pieces, such as GPUs, it equals the limit.
 */
static void validate_requests(const json_t *resources, const struct spot *at, struct refusal *r)
{
    const json_t *limits = json_object_get(resources, "limits"),
                 *requests = json_object_get(resources, "requests");
    JSON_EACH_MEMBER (name, amount, requests) {
        const json_t *limit = json_object_get(limits, name);
        bool extended = strchr(name, '/');
        struct quantity asked, allowed;
        if (extended && !limit)
            spot_required(r, SPOT(at, "limits"),
                          "Limit must be set for non overcommitable resources");
        if (!limit || !quantity_parse(str_or_empty(json_string_value(amount)), &asked) ||
            !quantity_parse(str_or_empty(json_string_value(limit)), &allowed))
            continue;
        if (extended ? asked.nano != allowed.nano : asked.nano > allowed.nano)
            spot_invalid(r, SPOT(at, "requests"), amount, "must be %sequal to %s limit of %s",
                         extended ? "" : "less than or ", name, json_string_value(limit));
    }
}

/* ---- the container */

static void validate_list(const json_t *container, const char *key,
                          void (*check)(const json_t *, const struct spot *, struct refusal *),
                          const struct spot *at, struct refusal *r)
{
    JSON_EACH_AT (i, item, json_object_get(container, key))
        check(item, SPOT_ITEM(SPOT(at, key), i), r);
}

static void validate_privileges(const json_t *container, const struct spot *at, struct refusal *r)
{
    const json_t *context = json_object_get(container, "securityContext");
    if (json_is_true(json_object_get(context, "privileged")) &&
        json_is_false(json_object_get(context, "allowPrivilegeEscalation")))
        spot_invalid(r, SPOT(at, "securityContext"), context,
                     "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

void validate_container(const json_t *container, const json_t *volumes, const struct spot *at,
                        struct refusal *r)
{
    const struct spot *resources = SPOT(at, "resources");
    validate_required_label(container, "name", at, r);
    validate_required(container, "image", at, r);
    validate_probes(container, at, r);
    validate_word(container, "terminationMessagePolicy", message_policies, at, r);
    validate_word(container, "imagePullPolicy", pull_policies, at, r);
    validate_list(container, "ports", validate_container_port, at, r);
    validate_list(container, "env", validate_variable, at, r);
    validate_mounts(json_object_get(container, "volumeMounts"), volumes, SPOT(at, "volumeMounts"),
                    r);
    validate_amounts(json_at(container, "resources.limits"), SPOT(resources, "limits"), r);
    validate_amounts(json_at(container, "resources.requests"), SPOT(resources, "requests"), r);
    validate_requests(json_object_get(container, "resources"), resources, r);
    validate_privileges(container, at, r);
}
