/* What a maintainer adds to the table in lib/base/vendor.c for a second vendor. Only the tests
 * beside it have it. Source: AMD's device plugin, and the rule for NFD in AMD's operator. */
{
    .name = "AMD",
    .word = "amd",
    .pci = 0x1002,
    .classes = { 0x0300, 0x0380, 0x1200 },
    .prefix = "amd.com/",
    .resource = "amd.com/gpu",
    .partitions = { "amd.com/spx_", "amd.com/dpx_", "amd.com/qpx_", "amd.com/tpx_",
                    "amd.com/cpx_" },
    .present = "amd.com/gpu.present",
    .taint = "amd.com/gpu",
    .signs = { { "feature.node.kubernetes.io/amd-gpu", "true" } },
    .module = "amdgpu",
    .gpu_device = "/dev/dri/renderD",
    .shared_devices = { "/dev/kfd" },
    .majors = { "kfd", "drm" },
},
