/* ostler-cuda beside a CUDA library that computes, errs, hangs and lies (tests/cuda): what it says,
 * and how it ends. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

#define CUDA "build/cuda-stand-in/libcuda.so.1"
#define NVML "build/nvml-stand-in/libnvidia-ml.so.1"
#define FIRST "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
#define SECOND "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"

enum { MOST = 8192, HANG_MS = 5000 };

#define VERSIONS "driver 570.211.01\ncuda 12.8\n"
#define CARD(uuid) "card " uuid " 40960 8.0 NVIDIA A100-SXM4-40GB\n"
#define CARD_1 CARD(FIRST) "ecc " FIRST " 3 4\n"
#define CARD_2 CARD(SECOND) "ecc " SECOND " 2 3\n"
#define GOOD(uuid) "bandwidth " uuid " N\nproven " uuid "\n"
#define BAD(uuid, status, text) uuid ": " text "\nfailed " uuid " " status "\n"
#define BOTH_BAD(status, text)                                                                     \
    VERSIONS CARD_1 BAD(FIRST, status, text)                                                       \
    CARD_2 BAD(SECOND, status, text) "end\n"

static const struct row {
    const char *name;
    const char *how; /* the libraries behave */
    int status;
    const char *said; /* where a bandwidth is "N" */
} rows[] = {
    { "every GPU is proven, with facts of both libraries", "answers", 0,
      VERSIONS CARD_1 GOOD(FIRST) CARD_2 GOOD(SECOND) "end\n" },
    { "without NVML the facts are those of the CUDA library", "without-nvml", 0,
      "cuda 12.8\ncard " FIRST " 40000 8.0 NVIDIA A100-SXM4-40GB\n" GOOD(
          FIRST) "card " SECOND " 40000 8.0 NVIDIA A100-SXM4-40GB\n" GOOD(SECOND) "end\n" },
    { "a slice is told by its profile", "slice", 0,
      VERSIONS "card MIG-00010203-0405-0607-0809-0a0b0c0d0e0f 40960 8.0 NVIDIA A100-SXM4-40GB\n"
               "slice MIG-00010203-0405-0607-0809-0a0b0c0d0e0f 1g.5gb\necc "
               "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f 3 4\n" GOOD(
                   "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f") "end\n" },
    { "a GPU with little memory left is proven, and has no bandwidth", "nearly-full", 0,
      VERSIONS CARD_1 "proven " FIRST "\n" CARD_2 "proven " SECOND "\nend\n" },
    { "one wrong bit in one sum is a failure", "wrong-once", 15,
      BOTH_BAD("15", "the GPU computed a wrong result: do not use it") },
    { "a GPU that computes nothing is a failure", "does-nothing", 15,
      BOTH_BAD("15", "the GPU computed a wrong result: do not use it") },
    { "the fabric manager is not ready", "error-802", 11,
      "CUDA: cuInit returned 802: the GPUs wait for the NVSwitch fabric: nvidia-fabricmanager does "
      "not run, or is not ready "
      "yet\n" },
    { "libcuda and the kernel module differ", "error-803", 12,
      "CUDA: cuInit returned 803: libcuda.so.1 is of another version than the loaded kernel "
      "module: restart the pod, or "
      "reboot the node if a driver was replaced\n" },
    { "a compatibility library that does not fit", "error-804", 13,
      "CUDA: cuInit returned 804: a CUDA compatibility library is in use that this GPU does not "
      "support\n" },
    { "an unknown error without the device of unified memory", "error-999", 14,
      "CUDA: cuInit returned 999: /dev/nvidia-uvm cannot be opened: the kernel module nvidia-uvm "
      "is not loaded, or the "
      "container was not given the device\n" },
    { "no GPU is there", "error-100", 10,
      "CUDA: cuInit returned 100: the driver shows no GPU: the container was given none, or MIG is "
      "enabled and has no "
      "instance\n" },
    { "no GPU is counted", "empty", 10,
      "CUDA: the driver shows no GPU: the container was given none, or MIG is enabled and has no "
      "instance\n" },
    { "an error of no row", "error-1", 3, "CUDA: cuInit returned 1: cuda.h explains the number\n" },
    { "no memory is left", "full", 16,
      BOTH_BAD("16",
               "cuMemAlloc_v2 returned 2: the GPU has no memory left for a program of 16 MiB") },
    { "an ECC error", "ecc", 17,
      BOTH_BAD("17", "cuMemcpyHtoD_v2 returned 214: the GPU's memory has an ECC error that cannot "
                     "be corrected: reset the GPU "
                     "or reboot the node") },
    { "a driver without its compiler", "no-compiler", 18,
      BOTH_BAD("18", "cuModuleLoadData returned 221: the driver cannot compile PTX for this GPU: "
                     "libnvidia-ptxjitcompiler.so.1 is missing or does not fit") },
    { "the first GPU works and the second does not", "crashes-on-the-second", 20,
      VERSIONS CARD_1 GOOD(FIRST)
          CARD_2 BAD(SECOND, "20",
                     "cuCtxSynchronize returned 719: the program failed on the GPU: "
                     "look for Xid messages in the node's kernel log") "end\n" },
    { "a library that hangs", "hangs", 21,
      "CUDA: the driver did not answer within the time limit: look for Xid messages in the node's "
      "kernel log\n" },
    { "a library without its functions", "bare", 2,
      "CUDA: libcuda.so.1 lacks functions that every supported driver has\n" },
};

/* build/VARIANT, where this program is of that build. */
static char *built(const char *name)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    *strstr(path, "/tests/unit/") = '\0';
    return xasprintf("%s/%s", path, name);
}

static void link_into(const char *folder, const char *library)
{
    CLEANUP_FREE char *place = xasprintf("%s%s", folder, strrchr(library, '/'));
    char *full = realpath(library, NULL);
    if (!full)
        fail_msg("%s is missing; make builds it before this test", library);
    assert_int_equal(symlink(full, place), 0);
    free(full);
}

static char *folder_new(const char *how)
{
    CLEANUP_FREE char *base = xasprintf("%s/ostler-cuda-XXXXXX",
                                        getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(base));
    char *folder = xasprintf("%s/%s", base, how);
    assert_int_equal(mkdir(folder, 0755), 0);
    CLEANUP_FREE char *bare = built("cuda/libcuda.so.1");
    link_into(folder, str_eq(how, "bare") ? bare : CUDA);
    if (!str_eq(how, "without-nvml"))
        link_into(folder, NVML);
    return folder;
}

static void folder_free(char *folder)
{
    *strrchr(folder, '/') = '\0';
    CLEANUP_FREE char *command = xasprintf("rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    free(folder);
}

/* Its words, each bandwidth as "N"; a bandwidth of 0 is none. */
static int run(const char *how, struct buf *ret)
{
    char line[MOST], unit[64];
    unsigned long long mib;
    char *folder = folder_new(how);
    CLEANUP_FREE char *program = built("ostler-cuda");
    CLEANUP_FREE char *command = xasprintf("OSTLER_CUDA_SECONDS=%d LD_LIBRARY_PATH='%s' '%s' 2>&1",
                                           str_eq(how, "hangs") ? 1 : 60, folder, program);
    FILE *said = popen(command, "r");
    assert_non_null(said);
    while (fgets(line, sizeof line, said))
        if (sscanf(line, "bandwidth %63s %llu", unit, &mib) == 2 && mib > 0)
            buf_printf(ret, "bandwidth %s N\n", unit);
        else
            buf_printf(ret, "%s", line);
    int status = pclose(said);
    folder_free(folder);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check(void **state)
{
    const struct row *row = *state;
    const struct clock clock = clock_system();
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    int64_t began_ms = clock_mono_ms(&clock);
    int status = run(row->how, &said);
    assert_string_equal(buf_text(&said), row->said);
    assert_int_equal(status, row->status);
    if (str_eq(row->how, "hangs"))
        assert_true(clock_mono_ms(&clock) - began_ms < HANG_MS);
}

/* What others say cannot make lines of its own. */
static void check_lies(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    assert_int_equal(run("lies", &said), 0);
    assert_null(strstr(buf_text(&said), "\n\n"));
    assert_non_null(strstr(buf_text(&said), " 8.0 ????"));
}

/* It goes on to the end of the list that it takes, and no further. */
static void check_flood(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(64 * 1024);
    assert_int_equal(run("floods", &said), 10);
    assert_non_null(strstr(buf_text(&said), "proven " SECOND "\n"));
    assert_true(str_has_suffix(buf_text(&said), "\nend\n"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "names of any bytes stay in their line", check_lies, NULL);
    suite_add(&s, "more GPUs than there are", check_flood, NULL);
    return suite_run(&s, "cuda");
}
