/* The root of a machine whose driver is its own, with the stand-in for NVML (tests/nvml). */
#ifndef OSTLER_TESTS_NODE_GPUS_OWN_ROOT_H
#define OSTLER_TESTS_NODE_GPUS_OWN_ROOT_H

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/tree.h"

#define BOOT "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"
#define HELPER "build/ostler-nvml"
#define LIBRARY "build/nvml-stand-in/libnvidia-ml.so.1"
#define OLD_LIBRARY "build/nvml-stand-in/old/libnvidia-ml.so.1"

static inline char *absolute(const char *path)
{
    char *full = realpath(path, NULL);
    if (!full)
        fail_msg("%s is missing; make builds it before this test", path);
    return full;
}

static inline void copy_file(const char *from, const char *root, const char *place)
{
    CLEANUP_FREE char *to = xasprintf("%s%s", root, place);
    char chunk[65536];
    size_t n;
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    assert_true(in && out);
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
        assert_int_equal(fwrite(chunk, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(to, 0755), 0);
}

/* A machine whose driver is its own: nothing is in it but the loader, the C library and the
 * driver's; the helper is not. */
static inline char *own_root_new(void)
{
    static const char *const folders[] = { "/lib64", "/lib", "/dev", "/usr", "/usr/lib64", "/run" };
    static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2",
                                           "/lib/ld-linux-aarch64.so.1" };
    CLEANUP_JSON json_t *machine = tree("{'files':{'proc/driver/nvidia/version':'NVRM version: x',"
                                        "'proc/sys/kernel/random/boot_id':'" BOOT "','run/x':'',"
                                        "'proc/driver/nvidia/gpus/0000:10:00.0':{'folder':true},"
                                        "'proc/driver/nvidia/gpus/0000:11:00.0':{'folder':true}}}");
    char *base = fake_root_new(machine);
    Dl_info libc;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        CLEANUP_FREE char *folder = xasprintf("%s%s", base, folders[i]);
        assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
    }
    for (size_t i = 0; i < ARRAY_LEN(loaders); i++)
        if (access(loaders[i], R_OK) == 0)
            copy_file(loaders[i], base, loaders[i]);
    assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc));
    copy_file(libc.dli_fname, base, "/usr/lib64/libc.so.6");
    copy_file(LIBRARY, base, "/usr/lib64/libnvidia-ml.so.1");
    copy_file("/dev/null", base, "/dev/nvidiactl");
    return base;
}

/* It is looked for beside the program. */
static inline void put_helper_beside(void)
{
    char self[4096];
    CLEANUP_FREE char *helper = absolute(HELPER);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    CLEANUP_FREE char *place = xasprintf("%s/ostler-nvml", self);
    unlink(place);
    assert_int_equal(symlink(helper, place), 0);
}

/* Writes what the stand-in library is to report, as if that were `age_s` seconds ago. */
static inline void script_put(const char *folder, const char *text, int age_s)
{
    CLEANUP_FREE char *path = xasprintf("%s/script", folder);
    struct timeval times[2];
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    gettimeofday(&times[0], NULL);
    times[0].tv_sec -= age_s;
    times[1] = times[0];
    assert_int_equal(utimes(path, times), 0);
}

#endif
