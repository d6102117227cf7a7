#include "reconcilers/manifests/values.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"

/* What derived values are computed from. */
struct sources {
    const json_t *inputs, *section;
};

/* Computes a derived value; NULL: none here. New reference. */
typedef json_t *derive_fn(const struct sources *s);

/* Without an image, it is on the node or Ostler's own. */
static json_t *image_of(const json_t *inputs)
{
    const char *image = json_str(inputs, "image");
    const char *version = json_str_or_empty(inputs, "version");
    bool digest = str_has_prefix(version, "sha256:");
    return image ? json_textf("%s%s%s", image, digest ? "@" : ":", version) : NULL;
}

/* The tag has the system, and for a precompiled image the kernel. A digest implies both. */
static json_t *image_of_system(const json_t *inputs, const char *kernel, const char *os)
{
    const char *version = json_str_or_empty(inputs, "version");
    if (!json_object_get(inputs, "image") || str_has_prefix(version, "sha256:"))
        return image_of(inputs);
    return json_textf("%s:%s%s%s-%s", json_str_or_empty(inputs, "image"), version,
                      kernel ? "-" : "", str_or_empty(kernel), os);
}

static json_t *derive_driver_image(const struct sources *s)
{
    return image_of_system(s->inputs, json_str(s->inputs, "kernel"),
                           json_str_or_empty(s->inputs, "os"));
}

/* Its tag has the system, like the driver's. */
static json_t *derive_gdrcopy_image(const struct sources *s)
{
    return image_of_system(json_object_get(s->inputs, "gdrcopy"), NULL,
                           json_str_or_empty(s->inputs, "os"));
}

static json_t *derive_gdrcopy_secret_env(const struct sources *s)
{
    return json_object_get(s->inputs, "gdrcopy")
               ? json_incref(json_object_get(s->inputs, "secretEnv"))
               : NULL;
}

static json_t *derive_kernel_module_type(const struct sources *s)
{
    static const char *const types[][2] = { { "Auto", "auto" },
                                            { "Open", "open" },
                                            { "Proprietary", "proprietary" } };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(json_str(s->inputs, "kernelModule"), types[i][0]))
            return json_text(types[i][1]);
    return NULL;
}

/* Arguments of Google's installer. Without a version it picks the one that fits the system. */
static json_t *derive_version_args(const struct sources *s)
{
    const char *version = json_str_or_empty(s->inputs, "version");
    return version[0] ? json_pack("[o]", json_textf("--version=%s", version)) : NULL;
}

/* Marks the pod that removes the toolkit. */
static json_t *derive_removal(const struct sources *s)
{
    (void) s;
    return json_true();
}

/* The configuration's strategy counts if the policy sets none. */
static json_t *derive_mig_strategy(const struct sources *s)
{
    const char *strategy = json_str_or_empty(s->inputs, "devicePlugin.migStrategy");
    if (json_at(s->inputs, "devicePlugin.config") && str_eq(strategy, "none"))
        return NULL;
    return json_text(strategy);
}

/* The text as a variable's value: Kubernetes reads "$$" as "$", and "$(NAME)" as another
 * variable. */
static json_t *derive_config(const struct sources *s)
{
    const char *text = json_str(s->inputs, "devicePlugin.config.text");
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
static json_t *derive_cdi_hook(const struct sources *s)
{
    const char *dir = json_str(s->inputs, "toolkit.installDir");
    return dir ? json_textf("%s/toolkit/nvidia-cdi-hook", dir)
               : json_text("/usr/bin/nvidia-cdi-hook");
}

static json_t *derive_interval_ms(const struct sources *s)
{
    int64_t ms;
    const char *interval = json_str(s->section, "interval");
    return interval && str_parse_duration(interval, &ms) ? json_textf("%lld", (long long) ms)
                                                         : NULL;
}

static json_t *derive_seccomp(const struct sources *s)
{
    const char *profile = json_str(s->section, "seccompProfile");
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
static void derive_images(const json_t *own_inputs, json_t *section, json_t *follows)
{
    if (!json_object_get(follows, "image"))
        json_object_set_new(follows, "image", image_of(own_inputs));
    if (json_object_get(follows, "image"))
        json_object_set(follows, "imagePullPolicy", json_object_get(section, "imagePullPolicy"));
}

json_t *values_of(const struct operand_row *o, const struct render_context *ctx)
{
    json_t *section = o->section ? json_at(ctx->spec, o->section) : NULL;
    const struct sources sources = { ctx->inputs, section };
    json_t *own_inputs = (json_t *) operand_inputs_of(o, ctx->inputs);
    json_t *follows = json_pack("{s:o*}", "hash", ctx->hash ? json_text(ctx->hash) : NULL);
    for (size_t i = 0; i < ARRAY_LEN(derived); i++)
        if (derived[i].operand == o->id)
            json_object_set_new(follows, derived[i].key, derived[i].derive(&sources));
    derive_images(own_inputs, section, follows);
    return json_pack("{s:O*, s:O*, s:O*, s:o, s:o, s:O*}", "section", section, "inputs",
                     ctx->inputs, "operand", own_inputs, "derived", follows, "own",
                     values_own(ctx->agent_image, ctx->spec), "health",
                     json_object_get(ctx->spec, "health"));
}
