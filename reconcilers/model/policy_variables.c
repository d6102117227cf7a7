#include "reconcilers/model/policy_variables.h"

static const char *const driver[] = {
    "COS_TOOLS_DIR_CONTAINER",
    "COS_TOOLS_DIR_HOST",
    "DRIVER_CONFIG_DIGEST",
    "KERNEL_MODULE_TYPE",
    "NVIDIA_INSTALL_DIR_CONTAINER",
    "NVIDIA_INSTALL_DIR_HOST",
    "OPEN_KERNEL_MODULES_ENABLED",
    "POD_UID",
    "ROOT_MOUNT_DIR",
    "VULKAN_ICD_DIR_CONTAINER",
    "VULKAN_ICD_DIR_HOST",
    NULL,
};

static const char *const toolkit[] = {
    "CDI_ENABLED",
    "CRI_SOCKET",
    "DEV_ROOT_CTR_PATH",
    "DRIVER_ROOT_CTR_PATH",
    "NO_DAEMON",
    "NVIDIA_CONTAINER_RUNTIME_MODE",
    "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND",
    "NVIDIA_DEV_ROOT",
    "NVIDIA_DRIVER_ROOT",
    "NVIDIA_RUNTIME_SET_AS_DEFAULT",
    "NVIDIA_VISIBLE_DEVICES",
    "ROOT",
    "RUNTIME",
    "RUNTIME_CONFIG",
    "RUNTIME_CONFIG_SOURCE",
    "RUNTIME_DROP_IN_CONFIG",
    "RUNTIME_DROP_IN_CONFIG_HOST_PATH",
    "RUNTIME_RESTART_MODE",
    "RUNTIME_SOCKET",
    /* ROOT under another name, which would win over it. */
    "TOOLKIT_INSTALL_DIR",
    NULL,
};

static const char *const device_plugin[] = {
    "CONFIG_FILE",
    "DEVICE_LIST_STRATEGY",
    "DRIVER_ROOT_CTR_PATH",
    "FAIL_ON_INIT_ERROR",
    "MIG_STRATEGY",
    "NVIDIA_CDI_HOOK_PATH",
    "NVIDIA_DEV_ROOT",
    "NVIDIA_DRIVER_ROOT",
    "NVIDIA_VISIBLE_DEVICES",
    "PASS_DEVICE_SPECS",
    NULL,
};

static const char *const exporter[] = {
    "DCGM_EXPORTER_COLLECTORS",
    "DCGM_EXPORTER_INTERVAL",
    "DCGM_EXPORTER_KUBERNETES",
    "DCGM_EXPORTER_LISTEN",
    "NODE_NAME",
    "NVIDIA_VISIBLE_DEVICES",
    NULL,
};

const char *const *policy_variables(enum policy_operand operand)
{
    static const char *const *const by_operand[POLICY_OPERANDS] = {
        [POLICY_DRIVER] = driver,
        [POLICY_TOOLKIT] = toolkit,
        [POLICY_DEVICE_PLUGIN] = device_plugin,
        [POLICY_EXPORTER] = exporter,
    };
    return by_operand[operand];
}
