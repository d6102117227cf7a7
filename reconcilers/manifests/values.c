#include "reconcilers/manifests/values.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"

/* Computes a derived value; NULL: none here. New reference. */
typedef json_t *derive_fn(const json_t *inputs, const json_t *section);

/* Without an image, it is on the node or Ostler's own. */
static json_t *derive_image(const json_t *inputs, const json_t *section)
{
    (void) section;
    const char *image = json_str(inputs, "image");
    const char *version = json_str_or_empty(inputs, "version");
    bool digest = str_has_prefix(version, "sha256:");
    return image ? json_textf("%s%s%s", image, digest ? "@" : ":", version) : NULL;
}

/* The tag has the system, and for a precompiled image the kernel. A digest implies both. */
static json_t *derive_driver_image(const json_t *inputs, const json_t *section)
{
    const char *version = json_str_or_empty(inputs, "version");
    if (!json_object_get(inputs, "image") || str_has_prefix(version, "sha256:"))
        return derive_image(inputs, section);
    const char *kernel = json_str(inputs, "kernel");
    return json_textf("%s:%s%s%s-%s", json_str_or_empty(inputs, "image"), version,
                      kernel ? "-" : "", str_or_empty(kernel), json_str_or_empty(inputs, "os"));
}

/* Its tag has the system, like the driver's. */
static json_t *derive_gdrcopy_image(const json_t *inputs, const json_t *section)
{
    const json_t *gdrcopy = json_object_get(inputs, "gdrcopy");
    const char *version = json_str_or_empty(gdrcopy, "version");
    if (!gdrcopy || str_has_prefix(version, "sha256:"))
        return gdrcopy ? derive_image(gdrcopy, section) : NULL;
    return json_textf("%s:%s-%s", json_str_or_empty(gdrcopy, "image"), version,
                      json_str_or_empty(inputs, "os"));
}

static json_t *derive_gdrcopy_secret_env(const json_t *inputs, const json_t *section)
{
    (void) section;
    return json_object_get(inputs, "gdrcopy") ? json_incref(json_object_get(inputs, "secretEnv"))
                                              : NULL;
}

static json_t *derive_kernel_module_type(const json_t *inputs, const json_t *section)
{
    static const char *const types[][2] = { { "Auto", "auto" },
                                            { "Open", "open" },
                                            { "Proprietary", "proprietary" } };
    (void) section;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(json_str(inputs, "kernelModule"), types[i][0]))
            return json_text(types[i][1]);
    return NULL;
}

/* Arguments of Google's installer. Without a version it picks the one that fits the system. */
static json_t *derive_version_args(const json_t *inputs, const json_t *section)
{
    (void) section;
    const char *version = json_str_or_empty(inputs, "version");
    return version[0] ? json_pack("[o]", json_textf("--version=%s", version)) : NULL;
}

/* Marks the pod that removes the toolkit. */
static json_t *derive_removal(const json_t *inputs, const json_t *section)
{
    (void) inputs;
    (void) section;
    return json_true();
}

/* The configuration's strategy counts if the policy sets none. */
static json_t *derive_mig_strategy(const json_t *inputs, const json_t *section)
{
    (void) section;
    const char *strategy = json_str_or_empty(inputs, "devicePlugin.migStrategy");
    if (json_at(inputs, "devicePlugin.config") && str_eq(strategy, "none"))
        return NULL;
    return json_text(strategy);
}

/* The text as a variable's value: Kubernetes reads "$$" as "$", and "$(NAME)" as another
 * variable. */
static json_t *derive_config(const json_t *inputs, const json_t *section)
{
    (void) section;
    const char *text = json_str(inputs, "devicePlugin.config.text");
    if (!text)
        return NULL;
    CLEANUP_FREE char *escaped = xcalloc(2 * strlen(text) + 1, 1);
    char *to = escaped;
    for (; *text; text++) {
        if (*text == '$')
            *to++ = '$';
        *to++ = *text;
    }
    return json_text(escaped);
}

/* Where the runtime finds the hook: in Ostler's toolkit, or where the host's packages put it. */
static json_t *derive_cdi_hook(const json_t *inputs, const json_t *section)
{
    (void) section;
    const char *dir = json_str(inputs, "toolkit.installDir");
    return dir ? json_textf("%s/toolkit/nvidia-cdi-hook", dir)
               : json_text("/usr/bin/nvidia-cdi-hook");
}

static json_t *derive_interval_ms(const json_t *inputs, const json_t *section)
{
    (void) inputs;
    int64_t ms;
    const char *interval = json_str(section, "interval");
    return interval && str_parse_duration(interval, &ms) ? json_textf("%lld", (long long) ms)
                                                         : NULL;
}

static json_t *derive_seccomp(const json_t *inputs, const json_t *section)
{
    (void) inputs;
    const char *profile = json_str(section, "seccompProfile");
    return profile ? json_pack("{s:s, s:s}", "type", "Localhost", "localhostProfile", profile)
                   : NULL;
}

static const struct derived {
    enum operand operand;
    const char *key;
    derive_fn *derive;
} derived[] = {
    { OPERAND_DRIVER, "image", derive_driver_image },
    { OPERAND_DRIVER, "gdrcopyImage", derive_gdrcopy_image },
    { OPERAND_DRIVER, "gdrcopySecretEnv", derive_gdrcopy_secret_env },
    { OPERAND_DRIVER, "kernelModuleType", derive_kernel_module_type },
    { OPERAND_DRIVER, "versionArgs", derive_version_args },
    { OPERAND_REMOVAL, "removal", derive_removal },
    { OPERAND_DEVICE_PLUGIN, "migStrategy", derive_mig_strategy },
    { OPERAND_DEVICE_PLUGIN, "config", derive_config },
    { OPERAND_DEVICE_PLUGIN, "cdiHook", derive_cdi_hook },
    { OPERAND_EXPORTER, "intervalMs", derive_interval_ms },
    { OPERAND_AGENT, "seccomp", derive_seccomp },
};

json_t *values_own(const char *agent_image, const json_t *spec)
{
    json_t *section = json_object_get(spec, "nodeAgent");
    if (!agent_image)
        return json_pack("{s:s}", "imagePullPolicy", "Never");
    return json_pack("{s:o, s:O*, s:O*}", "image", json_text(agent_image), "imagePullPolicy",
                     json_object_get(section, "imagePullPolicy"), "imagePullSecrets",
                     json_object_get(section, "imagePullSecrets"));
}

/* Derived values of every operand with an image. */
static void derive_images(const json_t *own_inputs, const json_t *section, json_t *follows)
{
    json_t *policy = json_object_get(section, "imagePullPolicy");
    if (!json_object_get(follows, "image"))
        json_object_set_new(follows, "image", derive_image(own_inputs, section));
    if (json_object_get(follows, "image") && policy)
        json_object_set(follows, "imagePullPolicy", policy);
}

json_t *values_of(const struct operand_row *o, const struct render_context *ctx)
{
    json_t *section = o->section ? json_at(ctx->spec, o->section) : NULL;
    json_t *values = json_object();
    json_object_set(values, "section", section);
    json_object_set(values, "inputs", (json_t *) ctx->inputs);
    json_object_set(values, "operand", (json_t *) operand_inputs_of(o, ctx->inputs));
    json_t *follows = json_object();
    if (ctx->hash)
        json_object_set_new(follows, "hash", json_text(ctx->hash));
    for (size_t i = 0; i < ARRAY_LEN(derived); i++) {
        json_t *value = derived[i].operand == o->id ? derived[i].derive(ctx->inputs, section)
                                                    : NULL;
        if (value)
            json_object_set_new(follows, derived[i].key, value);
    }
    derive_images(operand_inputs_of(o, ctx->inputs), section, follows);
    json_object_set_new(values, "derived", follows);
    json_object_set_new(values, "own", values_own(ctx->agent_image, ctx->spec));
    return values;
}
