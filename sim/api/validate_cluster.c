/* Nodes, services and the small kinds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/validate.h"

#define SPEC SPOT(NULL, "spec")

/* ---- nodes */

static const char *const taint_effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute", NULL };

/* A taint as messages show it: with the names of the server's own type. New reference. */
static json_t *shown_taint(const json_t *taint)
{
    json_t *time = json_object_get(taint, "timeAdded");
    return json_pack("{s:s, s:s, s:s, s:O}", "Key", json_str_or_empty(taint, "key"), "Value",
                     json_str_or_empty(taint, "value"), "Effect",
                     json_str_or_empty(taint, "effect"), "TimeAdded", time ? time : json_null());
}

/* `seen` has the pairs of key and effect that came before. */
static void validate_taint(const json_t *taint, json_t *seen, const struct spot *at,
                           struct refusal *r)
{
    const char *key = json_str_or_empty(taint, "key"), *effect = json_str_or_empty(taint, "effect");
    validate_qualified_name(key, SPOT(at, "key"), r);
    validate_label_value(json_str_or_empty(taint, "value"), SPOT(at, "value"), r);
    validate_required(taint, "effect", at, r);
    if (*effect)
        validate_word(taint, "effect", taint_effects, at, r);
    CLEANUP_FREE char *pair = xasprintf("%s:%s", key, effect);
    if (validate_first(seen, pair))
        return;
    CLEANUP_JSON json_t *shown = shown_taint(taint);
    spot_duplicate(r, at, shown, "taints must be unique by key and effect pair");
}

static void validate_taints(const json_t *taints, struct refusal *r)
{
    /* The server says "metadata" here. */
    CLEANUP_JSON json_t *seen = json_object();
    JSON_EACH_AT (i, taint, taints)
        validate_taint(taint, seen, SPOT_ITEM(SPOT(SPOT(NULL, "metadata"), "taints"), i), r);
}

/* The amounts of a node: not negative, and integers for resources in pieces. */
static void validate_capacity(const json_t *amounts, const struct spot *at, struct refusal *r)
{
    JSON_EACH_MEMBER (name, amount, amounts) {
        bool pieces = (strchr(name, '/') && !strstr(name, "kubernetes.io/")) ||
                      str_eq(name, "pods");
        validate_quantity(amount, pieces, SPOT(at, name), r);
    }
}

void validate_node(const json_t *before, const json_t *after, struct refusal *r)
{
    const json_t *was = json_object_get(before, "spec"), *is = json_object_get(after, "spec");
    const json_t *taints = json_object_get(is, "taints");
    if (taints && taints != json_object_get(was, "taints"))
        validate_taints(taints, r);
    static const char *const lists[] = { "capacity", "allocatable" };
    for (size_t i = 0; before && i < ARRAY_LEN(lists); i++)
        validate_capacity(json_object_get(json_object_get(after, "status"), lists[i]),
                          SPOT(SPOT(NULL, "status"), lists[i]), r);
    const char *cidr = json_str_or_empty(is, "podCIDR");
    if (*cidr && !strchr(cidr, '/'))
        spot_invalid_text(r, SPOT_ITEM(SPOT(SPEC, "podCIDRs"), 0), cidr,
                          "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    if (*json_str_or_empty(was, "providerID") &&
        !str_eq(json_key(was, "providerID"), json_key(is, "providerID")))
        spot_forbidden(r, SPOT(SPEC, "providerID"),
                       "node updates may not change providerID except from \"\" to valid");
}

/* ---- ConfigMaps */

static void validate_data_key(const char *key, const struct spot *at, struct refusal *r)
{
    const struct spot *here = SPOT_KEY(at, key);
    if (strlen(key) > 253)
        spot_invalid_text(r, here, key, "must be no more than 253 characters");
    if (!*key || strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
                     strlen(key))
        spot_invalid_text(r, here, key,
                          "a valid config key must consist of alphanumeric characters, '-', '_' or "
                          "'.' (e.g. 'key.name',  or 'KEY_NAME',  or "
                          "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
    else if (str_eq(key, "."))
        spot_invalid_text(r, here, key, "must not be '.'");
    else if (str_has_prefix(key, ".."))
        spot_invalid_text(r, here, key,
                          str_eq(key, "..") ? "must not be '..'" : "must not start with '..'");
}

void validate_config_map(const json_t *before, const json_t *after, struct refusal *r)
{
    enum { DATA_MAX = 1 << 20 };
    const json_t *data = json_object_get(after, "data"),
                 *binary = json_object_get(after, "binaryData");
    const struct spot *data_at = SPOT(NULL, "data"), *binary_at = SPOT(NULL, "binaryData");
    size_t total = 0;
    JSON_EACH_MEMBER (key, value, data) {
        validate_data_key(key, data_at, r);
        if (json_object_get(binary, key))
            spot_invalid_text(r, SPOT_KEY(data_at, key), key,
                              "duplicate of key present in binaryData");
        total += json_string_length(value);
    }
    JSON_EACH_MEMBER (key, value, binary) {
        validate_data_key(key, binary_at, r);
        total += json_string_length(value) / 4 * 3;
    }
    if (total > DATA_MAX)
        spot_too_long(r, SPOT(NULL, "[]"), DATA_MAX);
    if (!json_is_true(json_object_get(before, "immutable")))
        return;
    if (!json_is_true(json_object_get(after, "immutable")))
        spot_forbidden(r, SPOT(NULL, "immutable"), "field is immutable when `immutable` is set");
    if (!json_equal(json_object_get(before, "data"), data) &&
        (data || json_object_get(before, "data")))
        spot_forbidden(r, data_at, "field is immutable when `immutable` is set");
    if (!json_equal(json_object_get(before, "binaryData"), binary) &&
        (binary || json_object_get(before, "binaryData")))
        spot_forbidden(r, binary_at, "field is immutable when `immutable` is set");
}

/* ---- services */

static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
static const char *const affinities[] = { "ClientIP", "None", NULL };
static const char *const service_types[] = { "ClusterIP", "ExternalName", "LoadBalancer",
                                             "NodePort", NULL };

static void validate_service_port(const json_t *port, bool named, const struct spot *at,
                                  struct refusal *r)
{
    if (named || *json_str_or_empty(port, "name"))
        validate_required_label(port, "name", at, r);
    validate_port(json_object_get(port, "port"), SPOT(at, "port"), r);
    validate_word(port, "protocol", protocols, at, r);
    validate_port_reference(port, "targetPort", at, r);
}

/* Names and numbers of ports must be unique; `names` and `numbers` collect them. */
static void validate_port_unique(const json_t *port, json_t *names, json_t *numbers,
                                 const struct spot *at, struct refusal *r)
{
    const char *name = json_str_or_empty(port, "name"),
               *protocol = json_str_or_empty(port, "protocol");
    int64_t number = json_int(port, "port", 0);
    if (*name && !validate_first(names, name))
        spot_duplicate(r, SPOT(at, "name"), json_object_get(port, "name"), "");
    CLEANUP_FREE char *pair = xasprintf("%s:%" PRId64, protocol, number);
    if (validate_first(numbers, pair))
        return;
    CLEANUP_JSON json_t *shown = json_pack("{s:s, s:s, s:n, s:I, s:i, s:i}", "Name", "", "Protocol",
                                           protocol, "AppProtocol", "Port", (json_int_t) number,
                                           "TargetPort", 0, "NodePort", 0);
    spot_duplicate(r, at, shown, "");
}

static void validate_service_ports(const json_t *ports, const struct spot *at, struct refusal *r)
{
    CLEANUP_JSON json_t *names = json_object();
    CLEANUP_JSON json_t *numbers = json_object();
    JSON_EACH_AT (i, port, ports) {
        const struct spot *here = SPOT_ITEM(at, i);
        validate_service_port(port, json_array_size(ports) > 1, here, r);
        validate_port_unique(port, names, numbers, here, r);
    }
}

static void validate_cluster_ip(const json_t *spec, struct refusal *r)
{
    const char *address = json_str_or_empty(spec, "clusterIP");
    size_t digits = strspn(address, "0123456789.");
    unsigned a, b, c, d;
    char end;
    bool v4 = address[digits] == '\0' &&
              sscanf(address, "%3u.%3u.%3u.%3u%c", &a, &b, &c, &d, &end) == 4 && a < 256 &&
              b < 256 && c < 256 && d < 256;
    if (*address && !str_eq(address, "None") && !v4 && !strchr(address, ':'))
        spot_invalid_text(r, SPOT_ITEM(SPOT(SPEC, "clusterIPs"), 0), address,
                          "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void validate_service(const json_t *before, const json_t *after, struct refusal *r)
{
    const json_t *spec = json_object_get(after, "spec"), *ports = json_object_get(spec, "ports"),
                 *was = json_object_get(before, "spec");
    const struct spot *ports_at = SPOT(SPEC, "ports");
    if (before && was == spec)
        return;
    bool external = str_eq(json_key(spec, "type"), "ExternalName"),
         headless = str_eq(json_key(spec, "clusterIP"), "None");
    if (json_array_size(ports) == 0 && !external && !headless)
        spot_required(r, ports_at, "");
    validate_service_ports(ports, ports_at, r);
    if (external)
        validate_required(spec, "externalName", SPEC, r);
    validate_labels(json_object_get(spec, "selector"), SPOT(SPEC, "selector"), r);
    validate_word(spec, "sessionAffinity", affinities, SPEC, r);
    validate_cluster_ip(spec, r);
    validate_word(spec, "type", service_types, SPEC, r);
    const char *had = json_str_or_empty(was, "clusterIP"),
               *has = json_str_or_empty(spec, "clusterIP");
    CLEANUP_JSON json_t *shown = json_pack("[s]", has);
    if (*had && !external && !str_eq(json_key(was, "type"), "ExternalName") && !str_eq(had, has))
        spot_invalid(r, SPOT_ITEM(SPOT(SPEC, "clusterIPs"), 0), shown, "may not change once set");
}

/* ---- leases, classes */

void validate_lease(const json_t *before, const json_t *after, struct refusal *r)
{
    (void) before;
    const json_t *spec = json_object_get(after, "spec"),
                 *duration = json_object_get(spec, "leaseDurationSeconds");
    if (duration && json_integer_value(duration) <= 0)
        spot_invalid(r, SPOT(SPEC, "leaseDurationSeconds"), duration, "must be greater than 0");
    validate_not_negative(spec, "leaseTransitions", SPEC, r);
}

void validate_runtime_class(const json_t *before, const json_t *after, struct refusal *r)
{
    const struct spot *scheduling = SPOT(NULL, "scheduling");
    const char *is = json_str_or_empty(after, "handler");
    validate_required_label(after, "handler", NULL, r);
    validate_labels(json_at(after, "scheduling.nodeSelector"), SPOT(scheduling, "nodeSelector"), r);
    validate_tolerations(json_at(after, "scheduling.tolerations"), SPOT(scheduling, "tolerations"),
                         r);
    if (before && !str_eq(json_str_or_empty(before, "handler"), is))
        spot_invalid_text(r, SPOT(NULL, "handler"), is, "field is immutable");
}

void validate_priority_class(const json_t *before, const json_t *after, struct refusal *r)
{
    enum { USER_MAX = 1000000000 };
    static const char *const policies[] = { "PreemptLowerPriority", "Never", NULL };
    static const char *const own[] = { "system-node-critical", "system-cluster-critical" };
    const struct spot *value = SPOT(NULL, "value");
    const char *name = object_name(after);
    if (str_has_prefix(name, "system-") && !str_eq(name, own[0]) && !str_eq(name, own[1])) {
        CLEANUP_FREE char *why = xasprintf(
            "priority class names with 'system-' prefix are reserved for system use only. error: "
            "%s is not a known system "
            "priority class",
            name);
        spot_forbidden(r, SPOT(SPOT(NULL, "metadata"), "name"), why);
    } else if (!str_has_prefix(name, "system-") && json_int(after, "value", 0) > USER_MAX) {
        spot_forbidden(r, value, "maximum allowed value of a user defined priority is 1000000000");
    }
    if (before && json_int(before, "value", 0) != json_int(after, "value", 0))
        spot_forbidden(r, value, "may not be changed in an update.");
    const struct spot *whole = SPOT(NULL, "preemptionPolicy");
    const json_t *policy = json_object_get(after, "preemptionPolicy");
    if (before && !json_equal(json_object_get(before, "preemptionPolicy"), policy))
        spot_invalid(r, whole, policy, "field is immutable");
    if (policy && !str_eq(json_string_value(policy), policies[0]) &&
        !str_eq(json_string_value(policy), policies[1]))
        spot_not_supported(r, whole, policy, policies);
}
