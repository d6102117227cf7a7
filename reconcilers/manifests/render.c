#include "reconcilers/manifests/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/manifests/embedded.h"
#include "reconcilers/manifests/overlay.h"
#include "reconcilers/manifests/values.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/revision.h"

/* Manifests with their own parts or overlays. */
#define DRIVER_CONTAINER "driver/container.yaml"
#define DRIVER_COS "driver/cos.yaml"
#define TOOLKIT "toolkit/daemonset.yaml"
#define DEVICE_PLUGIN "device-plugin/daemonset.yaml"
#define EXPORTER "exporter/daemonset.yaml"
#define EXPORTER_MONITOR "exporter/servicemonitor.yaml"
#define NODE_CARDS "node-cards/daemonset.yaml"
#define NODE_AGENT "node-agent/daemonset.yaml"

const struct render_other render_others[] = {
    { RENDER_EXPORTER_SERVICE, OPERAND_EXPORTER, RESOURCE_SERVICE, "exporter",
      "exporter/service.yaml", NULL },
    { RENDER_EXPORTER_MONITOR, OPERAND_EXPORTER, RESOURCE_SERVICEMONITOR, "exporter",
      "exporter/servicemonitor.yaml", "exporter.serviceMonitor.enabled" },
    { RENDER_NODE_CARDS_DEFAULT, OPERAND_NODE_CARDS, RESOURCE_DAEMONSET, "node-cards-default",
      NODE_CARDS, NULL },
    { RENDER_RUNTIME_CLASS, OPERAND_NONE, RESOURCE_RUNTIMECLASS, "nvidia",
      "runtime/runtimeclass.yaml", NULL },
    { .operand = OPERAND_NONE, .name = NULL },
};

bool render_is_wished(const struct render_other *row, const json_t *spec)
{
    return !row->wish || json_bool(spec, row->wish, false);
}

/* NULL: it is an operand's DaemonSet. */
static const struct render_other *render_row_of(enum render_object what)
{
    const struct render_other *row = render_others;
    while (row->name && row->what != what)
        row++;
    return row->name ? row : NULL;
}

enum operand render_operand_of(enum render_object what)
{
    const struct render_other *row = render_row_of(what);
    return row ? row->operand : (enum operand) what;
}

/* The base of an object. */
struct shape {
    const char *manifest;
    const char *container; /* gets the policy's variables and arguments */
};

static struct shape shape_of(enum render_object what, const struct render_context *ctx)
{
    const struct render_other *row = render_row_of(what);
    const struct operand_row *o = operand_get(render_operand_of(what));
    if (row)
        return (struct shape){ row->manifest, NULL };
    if (what == RENDER_DRIVER &&
        str_eq(json_str(ctx->inputs, "source"), driver_source_name(DRIVER_SOURCE_COS)))
        return (struct shape){ DRIVER_COS, "install" };
    return (struct shape){ o->manifest, o->container };
}

/* Parts: merged into a manifest, in this order, if all conditions hold. */
static const struct part {
    const char *manifest;
    const char *name; /* its file is parts/NAME.yaml in the directory of the manifest */
    /* "PATH=TEXT" or, if it only has to exist, "PATH" in the values; NULL: none */
    const char *when[2];
} parts[] = {
    { DRIVER_CONTAINER, "entitlement", { "inputs.entitlement=true" } },
    { DRIVER_CONTAINER, "open-modules", { "inputs.kernelModule=Open" } },
    { DRIVER_CONTAINER, "repositories", { "inputs.repoConfig" } },
    { DRIVER_CONTAINER, "certificates", { "inputs.certConfig" } },
    { DRIVER_CONTAINER, "modules", { "inputs.kernelModuleConfig" } },
    { DRIVER_CONTAINER, "secret-env", { "inputs.secretEnv" } },
    { DRIVER_CONTAINER, "rdma", { "inputs.rdma" } },
    { DRIVER_CONTAINER, "rdma-modules", { "inputs.rdma", "inputs.kernelModuleConfig" } },
    { DRIVER_CONTAINER, "rdma-host-mofed", { "inputs.rdma.useHostMofed=true" } },
    { DRIVER_CONTAINER, "gdrcopy", { "inputs.gdrcopy" } },
    { DRIVER_CONTAINER, "gdrcopy-repositories", { "inputs.gdrcopy", "inputs.repoConfig" } },
    { DRIVER_CONTAINER, "gdrcopy-certificates", { "inputs.gdrcopy", "inputs.certConfig" } },
    { DRIVER_CONTAINER, "gdrcopy-secret-env", { "inputs.gdrcopy", "inputs.secretEnv" } },
    { TOOLKIT, "containerd", { "inputs.runtime=containerd", "inputs.distribution=stock" } },
    { TOOLKIT, "k3s", { "inputs.runtime=containerd", "inputs.distribution=k3s" } },
    { TOOLKIT, "k3s", { "inputs.runtime=containerd", "inputs.distribution=rke2" } },
    { TOOLKIT, "microk8s", { "inputs.runtime=containerd", "inputs.distribution=microk8s" } },
    { TOOLKIT, "k0s", { "inputs.runtime=containerd", "inputs.distribution=k0s" } },
    { TOOLKIT, "crio", { "inputs.runtime=crio" } },
    { TOOLKIT, "docker", { "inputs.runtime=docker" } },
    { TOOLKIT, "cdi", { "inputs.cdi=true" } },
    { TOOLKIT, "host-driver", { "inputs.driverRoot=Host" } },
    { TOOLKIT, "cos-driver", { "inputs.driverRoot=COS" } },
    /* After all others. */
    { TOOLKIT, "removal", { "derived.removal" } },
    { DEVICE_PLUGIN, "docker", { "inputs.runtime=docker" } },
    { DEVICE_PLUGIN, "cdi", { "inputs.cdi=true" } },
    { DEVICE_PLUGIN, "host-driver", { "inputs.driverRoot=Host" } },
    { DEVICE_PLUGIN, "cos-driver", { "inputs.driverRoot=COS" } },
    { DEVICE_PLUGIN, "host-toolkit", { "inputs.toolkit.enabled=false" } },
    { DEVICE_PLUGIN, "host-default-runtime", { "inputs.hostToolkit=default" } },
    { DEVICE_PLUGIN, "config", { "inputs.devicePlugin.config" } },
    { DEVICE_PLUGIN,
      "config-mig",
      { "inputs.devicePlugin.config", "inputs.devicePlugin.migStrategy=none" } },
    { DEVICE_PLUGIN, "gdrcopy", { "inputs.gdrcopy=true" } },
    { EXPORTER, "docker", { "inputs.runtime=docker" } },
    { EXPORTER, "microk8s", { "inputs.distribution=microk8s" } },
    { EXPORTER, "k0s", { "inputs.distribution=k0s" } },
    { EXPORTER, "shared", { "inputs.shared=true" } },
    { EXPORTER, "renamed", { "inputs.renamed=true" } },
    { EXPORTER, "metrics-config", { "section.metricsConfig" } },
    { NODE_CARDS, "default-runtime", { "inputs.defaultRuntime=true" } },
    { NODE_AGENT, "kernel-log", { "health.kernelLog=true" } },
};

#define SELECTOR_TERMS                                                                             \
    POD_SPEC                                                                                       \
    ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

/* Values set after the parts. `from` is a path in the values of values_of(). */
static const struct overlay overlays[] = {
    { NULL, OVERLAY_OPERAND_CONTAINERS, "image", overlay_put, "derived.image" },
    { NULL, OVERLAY_OPERAND_CONTAINERS, "imagePullPolicy", overlay_put, "derived.imagePullPolicy" },
    /* An own container is recognised by its image. */
    { NULL, OVERLAY_OWN_CONTAINERS, "imagePullPolicy", overlay_put, "own.imagePullPolicy" },
    { NULL, OVERLAY_OWN_CONTAINERS, "image", overlay_put, "own.image" },
    { NULL, NULL, POD_SPEC ".imagePullSecrets", overlay_append_names, "own.imagePullSecrets" },
    { NULL, OVERLAY_ALL_CONTAINERS, "resources", overlay_put, "section.resources" },
    { NULL, NULL, POD_SPEC ".imagePullSecrets", overlay_append_names, "section.imagePullSecrets" },
    { NULL, NULL, POD_SPEC ".priorityClassName", overlay_put, "section.priorityClassName" },
    { NULL, NULL, POD_SPEC ".tolerations", overlay_append, "section.tolerations" },
    { NULL, NULL, "spec.template.metadata.labels", overlay_merge, "section.labels" },
    { NULL, NULL, SELECTOR_TERMS "[0].matchExpressions", overlay_append, "inputs.selection" },

    { DRIVER_CONTAINER, "unload", "env[DRIVER_CONFIG_DIGEST].value", overlay_put, "derived.hash" },
    { DRIVER_CONTAINER, "driver", "env[DRIVER_CONFIG_DIGEST].value", overlay_put, "derived.hash" },
    { DRIVER_CONTAINER, "driver", "env[KERNEL_MODULE_TYPE].value", overlay_put,
      "derived.kernelModuleType" },
    { DRIVER_CONTAINER, NULL, POD_SPEC ".volumes[repositories].configMap.name", overlay_put,
      "inputs.repoConfig" },
    { DRIVER_CONTAINER, NULL, POD_SPEC ".volumes[certificates].configMap.name", overlay_put,
      "inputs.certConfig" },
    { DRIVER_CONTAINER, NULL, POD_SPEC ".volumes[modules].configMap.name", overlay_put,
      "inputs.kernelModuleConfig" },
    { DRIVER_CONTAINER, "driver", "envFrom[0].secretRef.name", overlay_put, "inputs.secretEnv" },
    { DRIVER_CONTAINER, "gdrcopy", "envFrom[0].secretRef.name", overlay_put,
      "derived.gdrcopySecretEnv" },
    { DRIVER_CONTAINER, "gdrcopy", "image", overlay_put, "derived.gdrcopyImage" },
    { DRIVER_CONTAINER, "driver", "startupProbe", overlay_merge, "section.startupProbe" },
    { DRIVER_COS, "install", "args", overlay_append, "derived.versionArgs" },

    { TOOLKIT, "toolkit", "env[REVISION].value", overlay_put, "derived.hash" },
    { TOOLKIT, "install", "env[ROOT].value", overlay_put, "inputs.toolkit.installDir" },
    { TOOLKIT, "install", "volumeMounts[install-dir].mountPath", overlay_put,
      "inputs.toolkit.installDir" },
    { TOOLKIT, NULL, POD_SPEC ".volumes[install-dir].hostPath.path", overlay_put,
      "inputs.toolkit.installDir" },

    { DEVICE_PLUGIN, "wait", "env[REVISION].value", overlay_put, "derived.hash" },
    { DEVICE_PLUGIN, "config", "env[CONFIG].value", overlay_put, "derived.config" },
    { DEVICE_PLUGIN, "device-plugin", "env[MIG_STRATEGY].value", overlay_put,
      "derived.migStrategy" },
    { DEVICE_PLUGIN, "device-plugin", "env[NVIDIA_CDI_HOOK_PATH].value", overlay_put,
      "derived.cdiHook" },

    { EXPORTER, "exporter", "env[DCGM_EXPORTER_INTERVAL].value", overlay_put,
      "derived.intervalMs" },
    { EXPORTER, NULL, POD_SPEC ".volumes[metrics-config].configMap.name", overlay_put,
      "section.metricsConfig" },

    { NODE_AGENT, "agent", "securityContext.seccompProfile", overlay_put, "derived.seccomp" },
    { NODE_AGENT, NULL, SELECTOR_TERMS "[1].matchExpressions", overlay_append, "inputs.selection" },

    { EXPORTER_MONITOR, NULL, "spec.endpoints[0].interval", overlay_put,
      "section.serviceMonitor.interval" },
    { EXPORTER_MONITOR, NULL, "metadata.labels", overlay_merge, "section.serviceMonitor.labels" },

    /* Last, so that the policy's arguments follow Ostler's own. */
    { NULL, OVERLAY_COMMAND_CONTAINER, "env", overlay_merge, "operand.env" },
    { NULL, OVERLAY_COMMAND_CONTAINER, "args", overlay_append, "operand.args" },
};

struct manifests {
    json_t *texts; /* JSON by file name: it takes a tenth of the trees and is seldom needed */
};

struct manifests *manifests_new(struct err *e)
{
    CLEANUP_MANIFESTS struct manifests *m = xcalloc(1, sizeof *m);
    m->texts = json_object();
    for (const struct embedded *file = embedded_files; file < embedded_files + embedded_files_len;
         file++) {
        CLEANUP_JSON json_t *documents = yaml_parse(file->text, strlen(file->text), NULL, e);
        if (!documents) {
            err_wrap(e, "%s", file->name);
            return NULL;
        }
        CLEANUP_FREE char *text = json_compact(json_array_get(documents, 0));
        json_object_set_new(m->texts, file->name, json_string(text));
    }
    return TAKE(m);
}

void manifests_free(struct manifests *m)
{
    if (!m)
        return;
    json_decref(m->texts);
    free(m);
}

static json_t *tree_of(const struct manifests *m, const char *file)
{
    const char *text = json_key(m->texts, file);
    return json_parse(text, strlen(text), NULL);
}

static bool condition_holds(const char *condition, const json_t *values)
{
    const char *is = strchr(condition, '=');
    CLEANUP_FREE char *path = xstrndup(condition, strcspn(condition, "="));
    const json_t *value = json_at(values, path);
    if (!is)
        return value && !json_is_null(value);
    if (json_is_boolean(value))
        return str_eq(is + 1, json_is_true(value) ? "true" : "false");
    return str_eq(is + 1, json_string_value(value));
}

static int add_parts(const struct manifests *m, const char *manifest, json_t *object,
                     const json_t *values, struct err *e)
{
    for (const struct part *part = parts; part < parts + ARRAY_LEN(parts); part++) {
        if (!str_eq(part->manifest, manifest) || !condition_holds(part->when[0], values) ||
            (part->when[1] && !condition_holds(part->when[1], values)))
            continue;
        CLEANUP_FREE char *file = xasprintf("%.*s/parts/%s.yaml", (int) strcspn(manifest, "/"),
                                            manifest, part->name);
        CLEANUP_JSON json_t *tree = tree_of(m, file);
        if (overlay_merge_part(object, tree, e) < 0)
            return err_wrap(e, "%s", file);
    }
    return 0;
}

static bool is_daemonset(const json_t *object)
{
    return str_eq(json_str(object, "kind"), "DaemonSet");
}

/* Overlays of containers that only a part adds apply if their value exists, which is when the part
 * applies. */
static int add_overlays(const struct shape *shape, json_t *object, const json_t *values,
                        struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(overlays); i++) {
        struct overlay o = overlays[i];
        if (o.manifest ? !str_eq(o.manifest, shape->manifest) : !is_daemonset(object))
            continue;
        if (str_eq(o.container, OVERLAY_COMMAND_CONTAINER))
            o.container = shape->container;
        if (overlay_apply(&o, object, values, e) < 0)
            return err_wrap(e, "%s", shape->manifest);
    }
    return 0;
}

static void render_set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, json_text(text));
}

/* The object at a key, created if absent. */
static json_t *object_at(json_t *parent, const char *key)
{
    if (!json_object_get(parent, key))
        json_object_set_new(parent, key, json_object());
    return json_object_get(parent, key);
}

/* Labels of every object of Ostler's. */
static void render_add_labels(json_t *metadata, const struct render_context *ctx, const char *tier)
{
    json_t *labels = object_at(metadata, "labels");
    render_set_text(labels, LABEL_MANAGED_BY, MANAGED_BY);
    render_set_text(labels, LABEL_POLICY_UID, ctx->policy_uid);
    if (!tier)
        return;
    render_set_text(labels, LABEL_TIER, tier);
    render_set_text(labels, LABEL_REVISION, ctx->hash);
}

/* Followers are garbage-collected with the policy. Ostler alone removes objects of a tier, and the
 * RuntimeClass that their pods need. */
static void add_owner(json_t *metadata, const struct render_context *ctx)
{
    json_object_set_new(metadata, "ownerReferences",
                        json_pack("[{s:s, s:s, s:s, s:o, s:b}]", "apiVersion", POLICY_API_VERSION,
                                  "kind", POLICY_KIND, "name", POLICY_NAME, "uid",
                                  json_text(ctx->policy_uid), "controller", 1));
}

/* Any term selects a node, so each term needs the requirement. */
static void keep_off_control_plane(json_t *pod)
{
    json_t *affinity = object_at(pod, "affinity");
    json_t *required = object_at(object_at(affinity, "nodeAffinity"),
                                 "requiredDuringSchedulingIgnoredDuringExecution");
    if (!json_object_get(required, "nodeSelectorTerms"))
        json_object_set_new(required, "nodeSelectorTerms",
                            json_pack("[{s:[]}]", "matchExpressions"));
    JSON_EACH (term, json_object_get(required, "nodeSelectorTerms")) {
        if (!json_object_get(term, "matchExpressions"))
            json_object_set_new(term, "matchExpressions", json_array());
        json_array_append_new(
            json_object_get(term, "matchExpressions"),
            json_pack("{s:s, s:s}", "key", KUBERNETES_CONTROL_PLANE, "operator", "DoesNotExist"));
    }
}

/* Which pods belong to the DaemonSet, and which nodes they run on. */
static void add_selection(json_t *object, const struct render_context *ctx, const char *tier)
{
    json_t *match = json_at(object, "spec.selector.matchLabels");
    json_t *labels = json_at(object, "spec.template.metadata.labels"),
           *pod = json_at(object, POD_SPEC);
    render_set_text(match, LABEL_MANAGED_BY, MANAGED_BY);
    render_set_text(labels, LABEL_MANAGED_BY, MANAGED_BY);
    if (!tier)
        return;
    render_set_text(match, LABEL_REVISION, ctx->hash);
    render_set_text(labels, LABEL_TIER, tier);
    render_set_text(labels, LABEL_REVISION, ctx->hash);
    CLEANUP_FREE char *assignment = xasprintf(MARK_PREFIX "%s", tier);
    render_set_text(object_at(pod, "nodeSelector"), assignment, ctx->hash);
}

/* Sets names, labels, owner and selection, which all objects have. */
static void stamp(json_t *object, enum render_object what, const struct render_context *ctx)
{
    const struct render_other *row = render_row_of(what);
    const char *tier = operand_tier_name(operand_get(render_operand_of(what)));
    json_t *metadata = json_object_get(object, "metadata");
    char name[RENDER_NAME_MAX];
    render_name(what, ctx->hash, name);
    render_set_text(metadata, "name", name);
    if (!row || resource_get(row->resource)->namespaced)
        render_set_text(metadata, "namespace", ctx->operand_namespace);
    render_add_labels(metadata, ctx, tier);
    if (!tier && what != RENDER_RUNTIME_CLASS)
        add_owner(metadata, ctx);
    if (is_daemonset(object)) {
        add_selection(object, ctx, tier);
        if (ctx->keep_off_control_plane)
            keep_off_control_plane(json_at(object, POD_SPEC));
    }
    if (row && row->resource == RESOURCE_SERVICE)
        render_set_text(json_at(object, "spec.selector"), LABEL_MANAGED_BY, MANAGED_BY);
    render_seal(object);
}

json_t *render_object(const struct manifests *m, enum render_object what,
                      const struct render_context *ctx, struct err *e)
{
    const struct operand_row *o = operand_get(render_operand_of(what));
    const struct shape shape = shape_of(what, ctx);
    if (operand_tier_name(o) && !ctx->hash) {
        err_set(e, ERR_INVALID, "%s: a revision's object needs its hash", shape.manifest);
        return NULL;
    }
    CLEANUP_JSON json_t *values = values_of(o, ctx);
    CLEANUP_JSON json_t *object = tree_of(m, shape.manifest);
    if (add_parts(m, shape.manifest, object, values, e) < 0 ||
        add_overlays(&shape, object, values, e) < 0)
        return NULL;
    stamp(object, what, ctx);
    return TAKE(object);
}

static bool is_sentinel(const struct render_task *want)
{
    const char *way = json_string_value(json_array_get(want->args, 1));
    return want->kind == TASK_REBOOT && (str_eq(way, "sentinel") || str_eq(way, "withdraw"));
}

static const char *task_file(const struct render_task *want)
{
    static const char *const files[TASK_COUNT] = {
        [TASK_PROOF] = "proof/pod.yaml",
        [TASK_PULL] = "task/pull.yaml",
        [TASK_RESET] = "task/reset.yaml",
        [TASK_REBOOT] = "task/reboot.yaml",
    };
    bool sample = want->kind == TASK_PROOF && want->image_count > 0 && want->images[0].image;
    return sample              ? "proof/sample.yaml"
           : is_sentinel(want) ? "task/reboot-sentinel.yaml"
                               : files[want->kind];
}

/* One container for each image, all like the manifest's container. */
static json_t *task_containers(const json_t *like, const struct render_task *want)
{
    json_t *containers = json_array();
    for (const struct render_image *image = want->images; image < want->images + want->image_count;
         image++) {
        json_t *container = json_deep_copy(like);
        render_set_text(container, "name", image->name);
        if (image->image)
            render_set_text(container, "image", image->image);
        if (image->image && image->pull_policy)
            render_set_text(container, "imagePullPolicy", image->pull_policy);
        if (want->resource)
            json_object_set_new(container, "resources",
                                json_pack("{s:{s:s}}", "limits", want->resource, "1"));
        if (want->args)
            json_object_set_new(container, "args", json_deep_copy(want->args));
        if (want->kind == TASK_REBOOT)
            json_array_append_new(json_object_get(container, "args"),
                                  json_textf("--boot=%016llx", (unsigned long long) want->boot));
        json_array_append_new(containers, container);
    }
    return containers;
}

static json_t *pinned_to(const char *node)
{
    return json_pack("{s:{s:{s:[{s:[{s:s, s:s, s:[s]}]}]}}}", "nodeAffinity",
                     "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
                     "matchFields", "key", "metadata.name", "operator", "In", "values", node);
}

/* Ostler's own container in a pod: it provides Ostler's program to a sample, or is the only one. */
static void add_own(json_t *spec, const struct render_task *want)
{
    CLEANUP_JSON json_t *own = values_own(want->agent_image, want->spec);
    json_t *init = json_object_get(spec, "initContainers");
    json_t *container = json_array_get(init ? init : json_object_get(spec, "containers"), 0);
    if (!overlay_is_own(container))
        return;
    json_object_update_existing(container, own);
    json_object_set(container, "imagePullPolicy", json_object_get(own, "imagePullPolicy"));
    if (json_array_size(json_object_get(own, "imagePullSecrets")) > 0)
        overlay_append_names(spec, "imagePullSecrets", json_object_get(own, "imagePullSecrets"));
}

json_t *render_task(const struct manifests *m, const struct render_task *want, struct err *e)
{
    const char *file = task_file(want);
    if (want->image_count == 0) {
        err_set(e, ERR_INVALID, "%s: a one-off pod needs an image", file);
        return NULL;
    }
    if (want->kind == TASK_REBOOT && !want->boot) {
        err_set(e, ERR_INVALID, "%s: a reboot needs the boot that it ends", file);
        return NULL;
    }
    char name[TASK_NAME_MAX];
    task_name(want->kind, want->node, name);
    json_t *object = tree_of(m, file), *spec = json_object_get(object, "spec");
    json_t *metadata = json_object_get(object, "metadata"), *labels = object_at(metadata, "labels");
    json_t *like = json_array_get(json_object_get(spec, "containers"), 0);
    render_set_text(metadata, "name", name);
    render_set_text(metadata, "namespace", want->operand_namespace);
    render_set_text(labels, LABEL_MANAGED_BY, MANAGED_BY);
    render_set_text(labels, LABEL_POLICY_UID, want->policy_uid);
    render_set_text(labels, LABEL_TASK, task_kind_name(want->kind));
    render_set_text(labels, LABEL_REVISION, want->purpose);
    json_object_set_new(spec, "affinity", pinned_to(want->node));
    if ((want->kind == TASK_RESET || want->kind == TASK_REBOOT) && !want->on_control_plane)
        keep_off_control_plane(spec);
    json_object_set_new(spec, "containers", task_containers(like, want));
    if (want->deadline_s)
        json_object_set_new(spec, "activeDeadlineSeconds", json_integer(want->deadline_s));
    add_own(spec, want);
    if (json_array_size(want->pull_secrets) > 0)
        overlay_append_names(spec, "imagePullSecrets", (json_t *) want->pull_secrets);
    return object;
}

json_t *render_revision(const struct render_context *ctx)
{
    const char *tier = json_str_or_empty(ctx->inputs, "tier");
    char name[RENDER_NAME_MAX];
    render_revision_name(tier, ctx->hash, name);
    json_t *object = json_pack("{s:s, s:s, s:{s:s, s:s}, s:o, s:i}", "apiVersion", "apps/v1",
                               "kind", "ControllerRevision", "metadata", "name", name, "namespace",
                               ctx->operand_namespace, "data", json_deep_copy(ctx->inputs),
                               "revision", 1);
    render_add_labels(json_object_get(object, "metadata"), ctx, tier);
    render_seal(object);
    return object;
}

void render_name(enum render_object what, const char *hash, char out[static RENDER_NAME_MAX])
{
    const struct render_other *row = render_row_of(what);
    const struct operand_row *o = operand_get(render_operand_of(what));
    if (operand_tier_name(o))
        snprintf(out, RENDER_NAME_MAX, "%s-%s", o->name, hash);
    else
        snprintf(out, RENDER_NAME_MAX, "%s", row ? row->name : o->name);
}

void render_revision_name(const char *tier, const char *hash, char out[static RENDER_NAME_MAX])
{
    snprintf(out, RENDER_NAME_MAX, "%s-%s", tier, hash);
}

void render_seal(json_t *object)
{
    json_t *annotations = object_at(json_object_get(object, "metadata"), "annotations");
    json_object_del(annotations, ANNOTATION_INTENT);
    char hash[REVISION_HASH_MAX];
    revision_hash(object, hash);
    render_set_text(annotations, ANNOTATION_INTENT, hash);
}
