/* The operands, one row each: edit this file for a new operand, image or version. Rows are in the
 * order in which pods start on a node, which is also the order for users. Tables and enums of
 * operands include this file with these macros:
 *
 *   OPERAND(id, name, section, fields, rules, …)     the policy and pools have a section
 *   OPERAND_OF_POLICY(id, name, section, fields, …)  only the policy has a section
 *   OPERAND_WITHIN(id, name, section, …)             it shares the section of another operand
 *
 * `name` and `section` are members of struct operand_row. `fields` and `rules` are the fields of
 * the section and the rules over them (policy_fields.c). … are other members of struct operand_row.
 *
 * A test build gets further rows from the file that OSTLER_EXTRA_OPERANDS names. */
#ifndef OPERAND_OF_POLICY
#define OPERAND_OF_POLICY(id, name, section, fields, ...)                                          \
    OPERAND(id, name, section, fields, NULL, __VA_ARGS__)
#endif
#ifndef OPERAND_WITHIN
#define OPERAND_WITHIN(id, name, section, ...) OPERAND(id, name, section, NONE, NULL, __VA_ARGS__)
#endif

OPERAND(DRIVER, "driver", "driver", DRIVER_FIELDS, policy_rules_driver, .class = OPERAND_CLASS_TIER,
        .tier = TIER_DRIVER, .title = "driver", .manifest = "driver/container.yaml",
        .container = "driver",
        .image = OPERAND_IMAGE(DRIVER, "nvcr.io/nvidia", "driver", "580.178.04"),
        .variables = OPERAND_VARIABLES("COS_TOOLS_DIR_CONTAINER", "COS_TOOLS_DIR_HOST",
                                       "DRIVER_CONFIG_DIGEST", "KERNEL_MODULE_TYPE",
                                       "NVIDIA_INSTALL_DIR_CONTAINER", "NVIDIA_INSTALL_DIR_HOST",
                                       "OPEN_KERNEL_MODULES_ENABLED", "POD_UID", "ROOT_MOUNT_DIR",
                                       "VULKAN_ICD_DIR_CONTAINER", "VULKAN_ICD_DIR_HOST"))

/* A container of the driver's pods. */
OPERAND_WITHIN(GDRCOPY, NULL, "driver.gdrcopy", .class = OPERAND_CLASS_IMAGE,
               .image = OPERAND_IMAGE(GDRCOPY, "nvcr.io/nvidia/cloud-native", "gdrdrv", "v2.6"))

/* TOOLKIT_INSTALL_DIR is another name of ROOT and would override it. */
OPERAND(TOOLKIT, "toolkit", "toolkit", TOOLKIT_FIELDS, NULL, .class = OPERAND_CLASS_TIER,
        .tier = TIER_STACK, .title = "toolkit", .member = "toolkit",
        .manifest = "toolkit/daemonset.yaml", .container = "install",
        .image = OPERAND_IMAGE(TOOLKIT, "nvcr.io/nvidia/k8s", "container-toolkit", "v1.20.0"),
        .variables = OPERAND_VARIABLES(
            "CDI_ENABLED", "CRI_SOCKET", "DEV_ROOT_CTR_PATH", "DRIVER_ROOT_CTR_PATH", "NO_DAEMON",
            "NVIDIA_CONTAINER_RUNTIME_MODE", "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND",
            "NVIDIA_DEV_ROOT", "NVIDIA_DRIVER_ROOT", "NVIDIA_RUNTIME_SET_AS_DEFAULT",
            "NVIDIA_VISIBLE_DEVICES", "ROOT", "RUNTIME", "RUNTIME_CONFIG", "RUNTIME_CONFIG_SOURCE",
            "RUNTIME_DROP_IN_CONFIG", "RUNTIME_DROP_IN_CONFIG_HOST_PATH", "RUNTIME_RESTART_MODE",
            "RUNTIME_SOCKET", "TOOLKIT_INSTALL_DIR"))

OPERAND(DEVICE_PLUGIN, "device-plugin", "devicePlugin", PLUGIN_FIELDS, NULL,
        .class = OPERAND_CLASS_TIER, .tier = TIER_STACK, .title = "device plugin",
        .member = "devicePlugin", .manifest = "device-plugin/daemonset.yaml",
        .container = "device-plugin",
        .image = OPERAND_IMAGE(DEVICE_PLUGIN, "nvcr.io/nvidia", "k8s-device-plugin", "v0.20.0"),
        .variables = OPERAND_VARIABLES("CONFIG_FILE", "DEVICE_LIST_STRATEGY",
                                       "DRIVER_ROOT_CTR_PATH", "FAIL_ON_INIT_ERROR", "MIG_STRATEGY",
                                       "NVIDIA_CDI_HOOK_PATH", "NVIDIA_DEV_ROOT",
                                       "NVIDIA_DRIVER_ROOT", "NVIDIA_VISIBLE_DEVICES",
                                       "PASS_DEVICE_SPECS"))

OPERAND(EXPORTER, "exporter", "exporter", EXPORTER_FIELDS, NULL, .class = OPERAND_CLASS_FOLLOWER,
        .title = "exporter", .off_label = LABEL_EXPORTER,
        .asks = FOLLOWER_SHARED | FOLLOWER_RENAMED, .manifest = "exporter/daemonset.yaml",
        .container = "exporter",
        .image = OPERAND_IMAGE(EXPORTER, "nvcr.io/nvidia/k8s", "dcgm-exporter",
                               "4.6.0-4.8.3-distroless"),
        .variables = OPERAND_VARIABLES("DCGM_EXPORTER_COLLECTORS", "DCGM_EXPORTER_INTERVAL",
                                       "DCGM_EXPORTER_KUBERNETES", "DCGM_EXPORTER_LISTEN",
                                       "NODE_NAME", "NVIDIA_VISIBLE_DEVICES"))

/* `ostler-node cards`, which queries the driver's library NVML: Ostler's own image. */
OPERAND(NODE_CARDS, "node-cards", "nodeCards", NODE_CARDS_FIELDS, NULL,
        .class = OPERAND_CLASS_FOLLOWER, .title = "NVML reader", .off_label = LABEL_NODE_CARDS,
        .asks = FOLLOWER_DEFAULT_RUNTIME, .manifest = "node-cards/daemonset.yaml")

/* The CUDA sample that validates GPUs, in a one-off pod. */
OPERAND_OF_POLICY(VALIDATION, NULL, "validation", VALIDATION_FIELDS, .class = OPERAND_CLASS_IMAGE,
                  .image = OPERAND_IMAGE(VALIDATION, "nvcr.io/nvidia/k8s", "cuda-sample",
                                         "vectoradd-cuda12.5.0-ubuntu22.04"))

/* GPUs need nothing from the agent. */
OPERAND_OF_POLICY(AGENT, "node-agent", "nodeAgent", AGENT_FIELDS, .class = OPERAND_CLASS_HELPER,
                  .manifest = "node-agent/daemonset.yaml")

/* Removes the toolkit's configuration from the container runtime when Ostler releases a node. */
OPERAND_WITHIN(REMOVAL, "toolkit-removal", "toolkit", .class = OPERAND_CLASS_HELPER,
               .member = "toolkit", .manifest = "toolkit/daemonset.yaml", .container = "install")

#ifdef OSTLER_EXTRA_OPERANDS
#include OSTLER_EXTRA_OPERANDS
#endif

#undef OPERAND
#undef OPERAND_OF_POLICY
#undef OPERAND_WITHIN
