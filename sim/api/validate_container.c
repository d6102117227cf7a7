/* Validation of containers, as the API server has it. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/quantity.h"
#include "sim/api/validate.h"
#include "sim/api/validate_name.h"
#include "sim/api/validate_value.h"

static const char *const pull_policies[] = { "Always", "IfNotPresent", "Never", NULL };
static const char *const message_policies[] = { "File", "FallbackToLogsOnError", NULL };
static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
static const char *const schemes[] = { "HTTP", "HTTPS", NULL };

/* What a probe or a hook may do, exactly one of them. */
static const char *const actions[] = { "exec", "httpGet", "tcpSocket", "grpc", "sleep" };
static const char *const probe_numbers[] = { "initialDelaySeconds", "timeoutSeconds",
                                             "periodSeconds",       "successThreshold",
                                             "failureThreshold",    NULL };

/* ---- ports and environment */

static void validate_container_port(const json_t *port, const struct spot *at, struct refusal *r)
{
    struct spot name = SPOT(at, "name"), number = SPOT(at, "containerPort"),
                host = SPOT(at, "hostPort");
    if (json_object_get(port, "name"))
        validate_port_name(json_str_or_empty(port, "name"), &name, r);
    if (json_int(port, "containerPort", 0) == 0)
        spot_required(r, &number, "");
    else
        validate_port(json_object_get(port, "containerPort"), &number, r);
    validate_port(json_object_get(port, "hostPort"), &host, r);
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
};

static bool is_downward_field(const char *path)
{
    if (str_has_prefix(path, "metadata.labels['") || str_has_prefix(path, "metadata.annotations['"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(downward_fields); i++)
        if (str_eq(downward_fields[i], path))
            return true;
    return false;
}

static void validate_env_source(const json_t *variable, const struct spot *at, struct refusal *r)
{
    const json_t *source = json_object_get(variable, "valueFrom");
    struct spot here = SPOT(at, "valueFrom"), field = SPOT(&here, "fieldRef"),
                path = SPOT(&field, "fieldPath");
    if (!source)
        return;
    const json_t *ref = json_object_get(source, "fieldRef");
    if (ref && !is_downward_field(json_str_or_empty(ref, "fieldPath")))
        spot_invalid_text(r, &path, json_str_or_empty(ref, "fieldPath"),
                          "error converting fieldPath: field label not supported: %s",
                          json_str_or_empty(ref, "fieldPath"));
    if (json_object_size(source) == 0)
        spot_invalid_text(r, &here, "",
                          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                          "`secretKeyRef` or `fileKeyRef`");
    else if (json_object_size(source) > 1)
        spot_invalid_text(r, &here, "", "may not have more than one field specified at a time");
    if (*json_str_or_empty(variable, "value"))
        spot_invalid_text(r, &here, "", "may not be specified when `value` is not empty");
}

static void validate_variable(const json_t *variable, const struct spot *at, struct refusal *r)
{
    const char *name = json_str_or_empty(variable, "name");
    struct spot here = SPOT(at, "name");
    bool printable = !strchr(name, '=');
    for (const char *p = name; *p; p++)
        printable = printable && isascii(*p) && isprint(*p);
    if (!*name)
        spot_required(r, &here, "");
    else if (!printable)
        spot_invalid_text(r, &here, name,
                          "a valid environment variable name must consist only of printable ASCII "
                          "characters other than '='");
    validate_env_source(variable, at, r);
}

/* ---- mounts */

static void validate_mounts(const json_t *mounts, const json_t *volumes, const struct spot *at,
                            struct refusal *r)
{
    CLEANUP_JSON json_t *paths = json_object();
    size_t i;
    json_t *mount;
    json_array_foreach ((json_t *) mounts, i, mount) {
        struct spot here = SPOT_ITEM(at, i), name = SPOT(&here, "name"),
                    path = SPOT(&here, "mountPath");
        if (!*json_str_or_empty(mount, "name"))
            spot_required(r, &name, "");
        if (!json_object_get(volumes, json_str_or_empty(mount, "name")))
            spot_not_found(r, &name, json_str_or_empty(mount, "name"));
        if (!*json_str_or_empty(mount, "mountPath"))
            spot_required(r, &path, "");
        else if (!validate_first(paths, json_str_or_empty(mount, "mountPath")))
            spot_invalid(r, &path, json_object_get(mount, "mountPath"), "must be unique");
    }
}

/* ---- probes and hooks */

static void validate_http(const json_t *get, const struct spot *at, struct refusal *r)
{
    struct spot path = SPOT(at, "path"), port = SPOT(at, "port");
    const json_t *number = json_object_get(get, "port");
    if (!*json_str_or_empty(get, "path"))
        spot_required(r, &path, "");
    validate_port(number, &port, r);
    if (json_is_string(number))
        validate_port_name(json_string_value(number), &port, r);
    validate_word(get, "scheme", schemes, at, r);
}

/* What is done: one action, and that in order. */
static void validate_action(const json_t *handler, const struct spot *at, struct refusal *r)
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        const json_t *action = json_object_get(handler, actions[i]);
        struct spot here = SPOT(at, actions[i]), command = SPOT(&here, "command");
        if (!action)
            continue;
        if (count++ > 0)
            spot_forbidden(r, &here, "may not specify more than 1 handler type");
        else if (i == 0 && json_array_size(json_object_get(action, "command")) == 0)
            spot_required(r, &command, "");
        else if (i == 1)
            validate_http(action, &here, r);
    }
    if (count == 0)
        spot_required(r, at, "must specify a handler type");
}

static void validate_probe(const json_t *probe, bool once, const struct spot *at, struct refusal *r)
{
    struct spot success = SPOT(at, "successThreshold");
    if (!probe)
        return;
    validate_action(probe, at, r);
    validate_none_negative(probe, probe_numbers, at, r);
    if (once && json_int(probe, "successThreshold", 1) != 1)
        spot_invalid(r, &success, json_object_get(probe, "successThreshold"), "must be 1");
}

static void validate_probes(const json_t *container, const struct spot *at, struct refusal *r)
{
    struct spot live = SPOT(at, "livenessProbe"), ready = SPOT(at, "readinessProbe"),
                start = SPOT(at, "startupProbe");
    validate_probe(json_object_get(container, "livenessProbe"), true, &live, r);
    validate_probe(json_object_get(container, "readinessProbe"), false, &ready, r);
    validate_probe(json_object_get(container, "startupProbe"), true, &start, r);
    struct spot lifecycle = SPOT(at, "lifecycle");
    const char *key;
    json_t *hook;
    json_object_foreach (json_object_get(container, "lifecycle"), key, hook) {
        struct spot here = SPOT(&lifecycle, key);
        if (!str_eq(key, "stopSignal"))
            validate_action(hook, &here, r);
    }
}

/* ---- resources */

static const char *const plain_resources[] = { "cpu", "memory", "ephemeral-storage" };

static void validate_amounts(const json_t *amounts, const struct spot *at, struct refusal *r)
{
    const char *name;
    json_t *amount;
    json_object_foreach ((json_t *) amounts, name, amount) {
        struct spot here = SPOT_KEY(at, name);
        bool plain = str_has_prefix(name, "hugepages-");
        for (size_t i = 0; i < ARRAY_LEN(plain_resources); i++)
            plain = plain || str_eq(plain_resources[i], name);
        if (!plain && !strchr(name, '/')) {
            spot_invalid_text(r, &here, name,
                              "must be a standard resource type or fully qualified");
            spot_invalid_text(r, &here, name, "must be a standard resource for containers");
        }
        struct quantity quantity;
        if (!quantity_parse(str_or_empty(json_string_value(amount)), &quantity))
            continue;
        if (quantity.nano < 0)
            spot_invalid(r, &here, amount, "must be greater than or equal to 0");
        if (!plain && !quantity_is_whole(&quantity))
            spot_invalid(r, &here, amount, "must be an integer");
    }
}

/* No more is requested than what is allowed; of what is in whole pieces, such as GPUs, neither
 * less. */
static void validate_requests(const json_t *resources, const struct spot *at, struct refusal *r)
{
    const json_t *limits = json_object_get(resources, "limits"),
                 *requests = json_object_get(resources, "requests");
    struct spot limits_at = SPOT(at, "limits"), requests_at = SPOT(at, "requests");
    const char *name;
    json_t *amount;
    json_object_foreach ((json_t *) requests, name, amount) {
        const json_t *limit = json_object_get(limits, name);
        bool extended = strchr(name, '/');
        struct quantity asked, allowed;
        if (extended && !limit)
            spot_required(r, &limits_at, "Limit must be set for non overcommitable resources");
        if (!limit || !quantity_parse(str_or_empty(json_string_value(amount)), &asked) ||
            !quantity_parse(str_or_empty(json_string_value(limit)), &allowed))
            continue;
        if (extended && asked.nano != allowed.nano)
            spot_invalid(r, &requests_at, amount, "must be equal to %s limit of %s", name,
                         json_string_value(limit));
        else if (asked.nano > allowed.nano)
            spot_invalid(r, &requests_at, amount, "must be less than or equal to %s limit of %s",
                         name, json_string_value(limit));
    }
}

/* ---- the container */

static void validate_list(const json_t *container, const char *key,
                          void (*check)(const json_t *, const struct spot *, struct refusal *),
                          const struct spot *at, struct refusal *r)
{
    struct spot list = SPOT(at, key);
    size_t i;
    json_t *item;
    json_array_foreach (json_object_get(container, key), i, item) {
        struct spot here = SPOT_ITEM(&list, i);
        check(item, &here, r);
    }
}

static void validate_privileges(const json_t *container, const struct spot *at, struct refusal *r)
{
    const json_t *context = json_object_get(container, "securityContext");
    struct spot here = SPOT(at, "securityContext");
    if (json_is_true(json_object_get(context, "privileged")) &&
        json_is_false(json_object_get(context, "allowPrivilegeEscalation")))
        spot_invalid(r, &here, context,
                     "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

void validate_container(const json_t *container, const json_t *volumes, const struct spot *at,
                        struct refusal *r)
{
    struct spot name = SPOT(at, "name"), image = SPOT(at, "image"),
                mounts = SPOT(at, "volumeMounts"), resources = SPOT(at, "resources");
    struct spot limits = SPOT(&resources, "limits"), requests = SPOT(&resources, "requests");
    if (!*json_str_or_empty(container, "name"))
        spot_required(r, &name, "");
    else
        validate_dns_label(json_str_or_empty(container, "name"), false, &name, r);
    if (!*json_str_or_empty(container, "image"))
        spot_required(r, &image, "");
    validate_probes(container, at, r);
    validate_word(container, "terminationMessagePolicy", message_policies, at, r);
    validate_word(container, "imagePullPolicy", pull_policies, at, r);
    validate_list(container, "ports", validate_container_port, at, r);
    validate_list(container, "env", validate_variable, at, r);
    validate_mounts(json_object_get(container, "volumeMounts"), volumes, &mounts, r);
    validate_amounts(json_at(container, "resources.limits"), &limits, r);
    validate_amounts(json_at(container, "resources.requests"), &requests, r);
    validate_requests(json_object_get(container, "resources"), &resources, r);
    validate_privileges(container, at, r);
}
