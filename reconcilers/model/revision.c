#include "reconcilers/model/revision.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/plugin_settings.h"

static const char *const source_names[] = {
    [DRIVER_SOURCE_NONE] = "",
    [DRIVER_SOURCE_CONTAINER] = "Container",
    [DRIVER_SOURCE_COS] = "COS",
    [DRIVER_SOURCE_HOST] = "Host",
};

const char *driver_source_name(enum driver_source source)
{
    return source_names[source];
}

enum driver_source driver_source_for(enum policy_driver_source wish, const struct host *host,
                                     bool host_driver)
{
    if (wish == POLICY_SOURCE_HOST)
        return DRIVER_SOURCE_HOST;
    if (wish == POLICY_SOURCE_COS)
        return host->cos ? DRIVER_SOURCE_COS : DRIVER_SOURCE_NONE;
    if (wish == POLICY_SOURCE_AUTO && host->cos)
        return DRIVER_SOURCE_COS;
    if (host_driver)
        return DRIVER_SOURCE_HOST;
    return host->os[0] ? DRIVER_SOURCE_CONTAINER : DRIVER_SOURCE_NONE;
}

const char *driver_source_problem(struct arena *a, enum policy_driver_source wish,
                                  const struct host *host, const struct node_facts *facts)
{
    if (wish == POLICY_SOURCE_COS)
        return arena_printf(
            a, "driver.source is COS, but the node runs %s, not Container-Optimized OS",
            str_or_empty(facts->os_image));
    if (host->cos)
        return "driver.source is Container, but no driver image exists for Container-Optimized OS: "
               "set it to Auto or COS";
    return host_os_problem(a, host, facts);
}

static void put(json_t *inputs, const char *key, const char *text)
{
    json_object_set_new(inputs, key, json_text(text));
}

/* Variables and arguments of a section. */
static void add_command(json_t *inputs, const json_t *section)
{
    static const char *const lists[] = { "env", "args" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        json_t *list = json_object_get(section, lists[i]);
        json_object_set_new(inputs, lists[i],
                            json_is_array(list) ? json_incref(list) : json_array());
    }
}

static void add_image(json_t *inputs, const json_t *spec, enum operand operand, const json_t *held)
{
    struct policy_image image = { 0 };
    policy_image_resolve(spec, operand, json_str(held, "image"), json_str(held, "version"), &image);
    put(inputs, "image", image.image);
    put(inputs, "version", image.version);
    policy_image_clear(&image);
}

/* Image, if it is not Ostler's own, env and args. */
static json_t *operand_inputs(const json_t *spec, enum operand operand, const json_t *held)
{
    const json_t *section = json_object_get(spec, operand_get(operand)->section);
    json_t *inputs = json_object();
    if (operand_get(operand)->image.image)
        add_image(inputs, spec, operand, held);
    add_command(inputs, section);
    return inputs;
}

/* The kernel version as part of an image's tag. A node reports it, so bytes that could end the tag
 * are replaced. */
static json_t *kernel_tag(const char *kernel)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    CLEANUP_FREE char *tag = xstrdup(kernel);
    for (char *c = tag; *(c += strspn(c, fit)) != '\0';)
        *c = '_';
    return json_text(tag);
}

/* The first held driver revision whose version means the same here. Other sources number versions
 * differently, and a precompiled image's version is a branch, which names no image of the other
 * kind. */
static const json_t *held_driver(const json_t *held, enum driver_source source, bool precompiled)
{
    JSON_EACH (inputs, held)
        if (str_eq(json_str(inputs, "source"), driver_source_name(source)) &&
            json_bool(inputs, "precompiled", false) == precompiled)
            return inputs;
    return NULL;
}

/* The operand's inputs in the first held stack revision that has it. */
static const json_t *held_operand(const json_t *held, const struct operand_row *o)
{
    JSON_EACH (inputs, held)
        if (json_bool(operand_inputs_of(o, inputs), "enabled", false))
            return operand_inputs_of(o, inputs);
    return NULL;
}

/* The names of the container's ConfigMaps and Secret. Without them a revision stays what it was
 * before these settings existed. As in NVIDIA's operator, a precompiled driver downloads no
 * packages (v26.7.0 internal/state/driver_volumes.go). */
static void add_files(json_t *inputs, const json_t *spec, bool precompiled)
{
    static const struct {
        const char *path, *input;
        bool for_packages;
    } names[] = {
        { "driver.repoConfig.name", "repoConfig", true },
        { "driver.certConfig.name", "certConfig", true },
        { "driver.kernelModuleConfig.name", "kernelModuleConfig", false },
        { "driver.secretEnv", "secretEnv", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *name = json_str(spec, names[i].path);
        if (name && !(names[i].for_packages && precompiled))
            put(inputs, names[i].input, name);
    }
}

/* While it is off, a revision stays what it was before this setting existed. */
static void add_rdma(json_t *inputs, const json_t *spec)
{
    const json_t *rdma = json_at(spec, "driver.rdma");
    if (json_bool(rdma, "enabled", false))
        json_object_set_new(
            inputs, "rdma",
            json_pack("{s:b}", "useHostMofed", json_bool(rdma, "useHostMofed", false)));
}

/* Likewise; `held`: the revision whose versions are kept. */
static void add_gdrcopy(json_t *inputs, const json_t *spec, const json_t *held)
{
    if (!json_bool(spec, "driver.gdrcopy.enabled", false))
        return;
    json_t *gdrcopy = json_object();
    add_image(gdrcopy, spec, OPERAND_GDRCOPY, json_object_get(held, "gdrcopy"));
    json_object_set_new(inputs, "gdrcopy", gdrcopy);
}

/* A subscribed host shares its subscription with the container, unless the policy sets the package
 * source; then the host needs no subscription. */
static bool needs_entitlement(const json_t *inputs, const struct host *host)
{
    return str_has_prefix(host->os, "rhel") && host->runtime == RUNTIME_CONTAINERD &&
           !json_object_get(inputs, "repoConfig");
}

/* Inputs of NVIDIA's container only. */
static json_t *container_inputs(const json_t *spec, const struct host *host, const json_t *held)
{
    bool precompiled = json_bool(spec, "driver.precompiled", false);
    const json_t *known = held_driver(held, DRIVER_SOURCE_CONTAINER, precompiled);
    json_t *inputs = operand_inputs(spec, OPERAND_DRIVER, known);
    const char *version = json_str(inputs, "version");
    if (precompiled && !str_has_prefix(version, "sha256:"))
        json_object_set_new(inputs, "version",
                            json_textf("%.*s", (int) strcspn(version, "."), version));
    if (precompiled)
        json_object_set_new(inputs, "kernel", kernel_tag(host->kernel));
    json_object_set_new(inputs, "precompiled", json_boolean(precompiled));
    const char *kernel_module = json_str(spec, "driver.kernelModule");
    put(inputs, "kernelModule", kernel_module ? kernel_module : "Auto");
    put(inputs, "os", host->os);
    add_files(inputs, spec, precompiled);
    add_rdma(inputs, spec);
    add_gdrcopy(inputs, spec, known);
    if (needs_entitlement(inputs, host))
        json_object_set_new(inputs, "entitlement", json_true());
    return inputs;
}

/* Google's image is already on the node. Without a version it installs the one that fits the
 * system. */
static json_t *cos_inputs(const json_t *spec, const json_t *held)
{
    const json_t *section = json_object_get(spec, "driver");
    const char *version = json_str(section, "version");
    if (!version)
        version = json_str(held_driver(held, DRIVER_SOURCE_COS, false), "version");
    json_t *inputs = json_object();
    put(inputs, "version", str_or_empty(version));
    add_command(inputs, section);
    return inputs;
}

json_t *driver_inputs(const json_t *pool_spec, enum driver_source source, const struct host *host,
                      const json_t *held)
{
    if (source != DRIVER_SOURCE_CONTAINER && source != DRIVER_SOURCE_COS)
        return NULL;
    json_t *inputs = source == DRIVER_SOURCE_COS ? cos_inputs(pool_spec, held)
                                                 : container_inputs(pool_spec, host, held);
    put(inputs, "tier", "driver");
    put(inputs, "source", driver_source_name(source));
    return inputs;
}

enum toolkit_wish toolkit_wish_of(const json_t *spec)
{
    const char *source = json_str(spec, "toolkit.source");
    const json_t *enabled = json_at(spec, "toolkit.enabled");
    if (json_is_false(enabled) || str_eq(source, "Host"))
        return TOOLKIT_OF_HOST;
    if (str_eq(source, "Ostler") || (!source && enabled))
        return TOOLKIT_OF_OSTLER;
    return TOOLKIT_AUTO;
}

static bool takes_hosts(const json_t *spec, const struct host *host)
{
    return toolkit_wish_of(spec) == TOOLKIT_AUTO && host_toolkit_name(host->toolkit);
}

bool toolkit_is_ostlers(const json_t *spec, const struct host *host)
{
    return toolkit_wish_of(spec) != TOOLKIT_OF_HOST && !takes_hosts(spec, host);
}

/* The sources of a stack's inputs. */
struct stack_case {
    const json_t *spec;        /* the pool's */
    enum driver_source source; /* whose root the driver uses */
    const struct host *host;
    const struct plugin_config *config;
};

/* Adds an operand's inputs other than image, variables and arguments. */
typedef void add_own_fn(json_t *inputs, const struct stack_case *c);

static void add_toolkits_own(json_t *inputs, const struct stack_case *c)
{
    const char *install_dir = json_str(c->spec, "toolkit.installDir");
    if (c->source == DRIVER_SOURCE_COS)
        install_dir = GOOGLE_DRIVER_DIR;
    put(inputs, "installDir", install_dir ? install_dir : "/usr/local/nvidia");
}

static void add_plugins_own(json_t *inputs, const struct stack_case *c)
{
    const char *mig_strategy = json_str(c->spec, "devicePlugin.migStrategy");
    put(inputs, "migStrategy", mig_strategy ? mig_strategy : "none");
    if (c->config)
        json_object_set_new(inputs, "config",
                            json_pack("{s:o, s:o, s:o}", "name", json_text(c->config->name), "key",
                                      json_text(c->config->key), "text",
                                      json_text(c->config->text)));
}

static bool has_part(const struct operand_row *o, const struct stack_case *c)
{
    if (o->id == OPERAND_TOOLKIT)
        return toolkit_is_ostlers(c->spec, c->host);
    return json_bool(json_object_get(c->spec, o->section), "enabled", true);
}

static json_t *part_inputs(const struct operand_row *o, const struct stack_case *c,
                           const json_t *held)
{
    static add_own_fn *const own[OPERANDS_MAX] = {
        [OPERAND_TOOLKIT] = add_toolkits_own,
        [OPERAND_DEVICE_PLUGIN] = add_plugins_own,
    };
    if (!has_part(o, c))
        return json_pack("{s:b}", "enabled", 0);
    json_t *inputs = operand_inputs(c->spec, o->id, held_operand(held, o));
    json_object_set_new(inputs, "enabled", json_true());
    if (own[o->id])
        own[o->id](inputs, c);
    return inputs;
}

/* Whose root the driver uses. A driver that Google installed on other GKE systems is where its
 * installer for Container-Optimized OS puts any. */
static enum driver_source root_of(enum driver_source source, const struct host *host)
{
    return source == DRIVER_SOURCE_HOST && (host->cos || host->google_driver) ? DRIVER_SOURCE_COS
                                                                              : source;
}

/* The node's container runtime facts: the same keys for each operand that depends on them. */
static void add_host(json_t *inputs, const struct host *host)
{
    put(inputs, "runtime", host_runtimes[host->runtime].name);
    put(inputs, "distribution", host_distributions[host->distribution].name);
}

json_t *stack_inputs(const json_t *pool_spec, enum driver_source source, const struct host *host,
                     const struct plugin_config *config, const json_t *held)
{
    json_t *inputs = json_object();
    put(inputs, "tier", "stack");
    put(inputs, "driverRoot", driver_source_name(root_of(source, host)));
    /* A host toolkit is part of the kind of host, so a revision of one kind is never tried on the
     * other. */
    if (takes_hosts(pool_spec, host))
        put(inputs, "hostToolkit", host_toolkit_name(host->toolkit));
    /* Ostler's toolkit enables CDI; without it CDI has the runtime's default. */
    json_object_set_new(
        inputs, "cdi",
        json_boolean(toolkit_is_ostlers(pool_spec, host) ? host->cdi : host->cdi_by_default));
    add_host(inputs, host);
    if (source == DRIVER_SOURCE_CONTAINER && json_bool(pool_spec, "driver.gdrcopy.enabled", false))
        json_object_set_new(inputs, "gdrcopy", json_true());
    const struct stack_case c = { pool_spec, root_of(source, host), host, config };
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (operand_is_of(o, TIER_STACK))
            json_object_set_new(inputs, o->member, part_inputs(o, &c, held));
    return inputs;
}

json_t *follower_inputs(const struct operand_row *follower, const json_t *spec,
                        const struct host *host, const json_t *held, unsigned traits)
{
    static const struct host stock = { .runtime = RUNTIME_CONTAINERD,
                                       .distribution = DISTRIBUTION_STOCK };
    json_t *inputs = operand_inputs(spec, follower->id, held);
    add_host(inputs, host ? host : &stock);
    /* Also while every pool runs it: another template would replace its pods on all nodes. */
    json_object_set_new(
        inputs, "selection",
        json_pack("[{s:s, s:s}]", "key", follower->off_label, "operator", "DoesNotExist"));
    if (traits & follower->asks & FOLLOWER_SHARED)
        json_object_set_new(inputs, "shared", json_true());
    if (traits & follower->asks & FOLLOWER_RENAMED)
        json_object_set_new(inputs, "renamed", json_true());
    return inputs;
}

json_t *follower_inputs_of_default_runtime(const struct operand_row *follower, const json_t *inputs)
{
    json_t *own = json_deep_copy(inputs);
    json_object_set_new(own, "defaultRuntime", json_true());
    json_object_set_new(own, "selection",
                        json_pack("[{s:s, s:s, s:[s]}]", "key", follower->off_label, "operator",
                                  "In", "values", NODE_CARDS_DEFAULT_RUNTIME));
    return own;
}

bool stack_has_default_runtime(const json_t *stack_inputs)
{
    return str_eq(json_str(stack_inputs, "runtime"), host_runtimes[RUNTIME_DOCKER].name) ||
           str_eq(json_str(stack_inputs, "hostToolkit"), host_toolkit_name(HOST_TOOLKIT_DEFAULT));
}

unsigned follower_traits(const json_t *stack_inputs)
{
    CLEANUP_JSON json_t *settings = plugin_settings_of(stack_inputs);
    return (plugin_shares_by(settings, SHARING_TIME_SLICING) ? FOLLOWER_SHARED : 0U) |
           (plugin_share_of(settings, RESOURCE_GPU).renamed ? FOLLOWER_RENAMED : 0U);
}

/* A selector's labels become expressions with one value. */
static json_t *expressions_of(const json_t *selector)
{
    json_t *list = json_array();
    JSON_EACH_MEMBER (key, value, json_object_get(selector, "matchLabels"))
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:[O]}", "key", key, "operator", "In", "values", value));
    json_array_extend(list, json_object_get(selector, "matchExpressions"));
    return list;
}

json_t *agent_inputs(const json_t *spec)
{
    return json_pack("{s:o}", "selection", expressions_of(json_at(spec, "nodes.selector")));
}

/* Of hashes. Without vowels, so that no words appear. */
static const char alphabet[] = "0123456789bcdfghjklmnpqrstvwxyz";

bool revision_is_hash(const char *text)
{
    return strlen(text) == REVISION_HASH_MAX - 1 && strspn(text, alphabet) == REVISION_HASH_MAX - 1;
}

void revision_hash(const json_t *inputs, char out[static REVISION_HASH_MAX])
{
    CLEANUP_FREE char *text = json_canonical(inputs);
    uint64_t hash = str_hash(text, strlen(text));
    for (size_t i = 0; i < REVISION_HASH_MAX - 1; i++) {
        out[i] = alphabet[hash % (sizeof alphabet - 1)];
        hash /= sizeof alphabet - 1;
    }
    out[REVISION_HASH_MAX - 1] = '\0';
}

/* The version of an operand of the tier; NULL: another tier, or no version in the inputs. */
static const char *version_in(const struct operand_row *o, const char *tier, const json_t *inputs)
{
    return operand_is_of(o, tier_parse(tier)) ? json_str(operand_inputs_of(o, inputs), "version")
                                              : NULL;
}

const char *revision_version(const json_t *inputs, const char *tier)
{
    if (json_object_get(inputs, "hostToolkit"))
        return REVISION_HOST_TOOLKIT;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (operand_is_of(o, tier_parse(tier)))
            return version_in(o, tier, inputs);
    return NULL;
}

const char *revision_title(struct arena *a, const json_t *inputs, const char *tier)
{
    const char *title = NULL;
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        const char *version = version_in(o, tier, inputs);
        if (version && *version)
            title = arena_printf(a, "%s%s%s %s", str_or_empty(title), title ? " and " : "",
                                 o->title, version);
    }
    return title;
}

const char *revision_name(struct arena *a, const json_t *inputs, const char *tier, const char *hash,
                          bool namesake)
{
    const char *title = revision_title(a, inputs, tier);
    if (!title)
        return arena_printf(a, "%s revision %s", tier, hash);
    return namesake ? arena_printf(a, "%s (revision %s)", title, hash) : title;
}

bool revision_same_title(const json_t *a, const json_t *b, const char *tier)
{
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (!str_eq(version_in(o, tier, a), version_in(o, tier, b)))
            return false;
    return true;
}

static bool same_members(const json_t *a, const json_t *b, const char *const *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *x = json_key(a, members[i]), *y = json_key(b, members[i]);
        if (x && y && !str_eq(x, y))
            return false;
    }
    return true;
}

bool revision_same_machine(const json_t *a, const json_t *b)
{
    static const char *const members[] = { "os", "kernel", "runtime", "distribution" };
    return same_members(a, b, members, ARRAY_LEN(members));
}

bool revision_same_host(const json_t *a, const json_t *b)
{
    static const char *const members[] = { "driverRoot", "source" };
    return revision_same_machine(a, b) && same_members(a, b, members, ARRAY_LEN(members)) &&
           str_eq(json_str_or_empty(a, "hostToolkit"), json_str_or_empty(b, "hostToolkit"));
}
