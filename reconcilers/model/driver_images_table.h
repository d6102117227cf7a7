/* The published images of NVIDIA's driver container, as data only. `scripts/check-images` compares
 * the table with a registry. Ostler reports nothing about a version or branch that is not in the
 * table.
 * Source: github.com/NVIDIA/gpu-driver-container, commit 06a208c of 2026-08-17: what its releases
 * push to nvcr.io/nvidia/driver (.common-ci.yml and .nvidia-ci.yml; precompiled:
 * .driver-versions-precompiled-* in .common-ci.yml). */
#ifndef OSTLER_RECONCILERS_MODEL_DRIVER_IMAGES_TABLE_H
#define OSTLER_RECONCILERS_MODEL_DRIVER_IMAGES_TABLE_H

/* The only image that this table covers. */
#define DRIVER_IMAGES_IMAGE "nvcr.io/nvidia/driver"

/* Version, then its operating systems, each between spaces: tags VERSION-SYSTEM. */
#define DRIVER_IMAGES(X)                                                                           \
    X("580.178.04", " ubuntu22.04 ubuntu24.04 rhel8 rhel8.10 rhel9 rhel9.4 rhel9.6 rhel9.7 "       \
                    "rhel9.8 rhel10 rhel10.0 rhel10.1 "                                            \
                    "rhel10.2 rocky8 rocky9 rocky10 rhcos4.18 ")                                   \
    X("595.91.07", " ubuntu22.04 ubuntu24.04 ubuntu26.04 rhel8 rhel8.10 rhel9 rhel9.4 rhel9.6 "    \
                   "rhel9.7 rhel9.8 rhel10 rhel10.0 "                                              \
                   "rhel10.1 rhel10.2 rocky8 rocky9 rocky10 rhcos4.18 ")                           \
    X("610.57.04", " ubuntu22.04 ubuntu24.04 ubuntu26.04 rhel8 rhel8.10 rhel9 rhel9.4 rhel9.6 "    \
                   "rhel9.7 rhel9.8 rhel10 rhel10.0 "                                              \
                   "rhel10.1 rhel10.2 rocky8 rocky9 rocky10 rhcos4.18 ")

/* Branch, system, the first two numbers of the kernels, the kernel flavours, each between spaces:
 * tags BRANCH-KERNEL-SYSTEM. */
#define DRIVER_PRECOMPILED(X)                                                                      \
    X("580", "ubuntu22.04", " 5.15 6.8 ", " aws azure generic nvidia oracle ")                     \
    X("580", "ubuntu24.04", " 6.8 ", " aws azure azure-fde generic nvidia oracle ")                \
    X("595", "ubuntu22.04", " 5.15 6.8 ", " aws azure generic nvidia oracle ")                     \
    X("595", "ubuntu24.04", " 6.8 ", " aws azure azure-fde generic nvidia oracle ")                \
    X("595", "ubuntu26.04", " 7.0 ", " aws azure azure-fde generic nvidia oracle ")

#endif
