/* `ostler-node proof` in Ostler's own image: what it starts ostler-cuda with, what it takes of its
 * words, and what a failure is called. ostler-cuda itself: tests/unit/node_cuda; with the loader
 * and the C library of the image: tests/image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "node/operand/proof.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

#if defined(__aarch64__)
#define LOADER "usr/lib/ostler/ld-linux-aarch64.so.1"
#else
#define LOADER "usr/lib/ostler/ld-linux-x86-64.so.2"
#endif
#define GIVEN                                                                                      \
    "tmpfs /dev tmpfs rw 0 0\n/dev/sda1 /usr/lib/x86_64-linux-gnu/libcuda.so.580.178.04 ext4 ro "  \
    "0 0\n"
#define CARD "echo card GPU-1 81559 9.0 NVIDIA H100 80GB HBM3;"
#define GOOD                                                                                       \
    "echo driver 580.178.04; echo cuda 13.0;" CARD                                                 \
    "echo ecc GPU-1 0 0; echo bandwidth GPU-1 1; echo proven GPU-1;"
#define TOLD                                                                                       \
    "driver=580.178.04\ncuda=13.0\nmemory=81559\ncompute=9.0\nproduct=NVIDIA H100 80GB HBM3\n"
#define FABRIC "CUDA: cuInit returned 802: the GPUs wait for the NVSwitch fabric"
/* The program is started so, or it ends with 99. */
#define WITH(libraries)                                                                            \
    "[ \"$*\" = '--library-path " libraries " ./usr/bin/ostler-cuda' ] || exit 99;"

static const struct row {
    const char *name;
    const char *mounts;
    const char *does; /* the loader; NULL: there is none */
    const char *told; /* at the end */
    const char *error;
} rows[] = {
    { "it is loaded by the image's loader, with the image's C library before the driver's folder",
      GIVEN, WITH("./usr/lib/ostler:/usr/lib/x86_64-linux-gnu") GOOD "echo end", TOLD, NULL },
    { "every folder with the driver's library is looked through",
      "a /usr/lib/libcuda.so.580.1 ext4 ro 0 0\na /lib64/libcuda.so.580.1 ext4 ro 0 0\n",
      WITH("./usr/lib/ostler:/usr/lib:/lib64") GOOD "echo end", TOLD, NULL },
    { "it has no more than a slice", GIVEN,
      CARD "echo slice MIG-1 1g.10gb; echo proven MIG-1; echo end",
      "memory=81559\ncompute=9.0\nproduct=NVIDIA H100 80GB HBM3\nslice=1g.10gb\n", NULL },
    { "of several GPUs the first is told", GIVEN,
      GOOD "echo card GPU-2 1 2.0 other; echo proven GPU-2; echo end", TOLD, NULL },
    { "what is too long is no fact", GIVEN,
      "echo cuda $(printf %200s | tr ' ' x); echo proven GPU-1", "", NULL },
    { "half a line is no fact", GIVEN, "echo card; echo driver; echo proven GPU-1", "", NULL },
    { "the container was given no driver",
      "tmpfs /dev tmpfs rw 0 0\na /usr/lib/libcudadebugger.so.580.1 ext4 ro 0 0\n", GOOD, NULL,
      "the container was given no libcuda.so: the container runtime did not add the driver's "
      "libraries" },
    { "a failure is told by the program's sentence", GIVEN, "echo '" FABRIC "' >&2; exit 11", NULL,
      FABRIC },
    { "that comes after what it has seen", GIVEN,
      GOOD "echo 'GPU-2: the GPU computed a wrong result' >&2; echo failed GPU-2 15; exit 15", NULL,
      "GPU-2: the GPU computed a wrong result" },
    { "the loader's sentence is one", GIVEN,
      "echo 'ostler-cuda: libcuda.so.1: cannot open shared object file' >&2; exit 127", NULL,
      "ostler-cuda: libcuda.so.1: cannot open shared object file" },
    { "a program without a word is told by its end", GIVEN, "kill -SEGV $$", NULL,
      "ostler-cuda: ./" LOADER " was ended by signal 11" },
    { "an image without the loader", GIVEN, NULL, NULL,
      "ostler-cuda: ./" LOADER " cannot be started" },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *machine = json_pack("{s:{s:s, s:s, s:s, s:s}}", "files", "log", "",
                                             "proc/self/mounts", row->mounts, "usr/bin/ostler", "",
                                             "usr/lib/ostler/libc.so.6", "");
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_BUF struct buf told = BUF_INIT(4096);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_FREE char *log = xasprintf("%s/log", path), *here = getcwd(NULL, 0);
    assert_int_equal(root_open(&root, path, NULL), 0);
    fake_root_program(path, "usr/bin/ostler-cuda", "exit 98");
    if (row->does)
        fake_root_program(path, LOADER, row->does);
    int rc = proof_run(&root, log, &e);
    assert_int_equal(chdir(here), 0);
    root_read(&root, "log", &told);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_string_equal(buf_text(&told), row->error ? row->error : row->told);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "proof by ostler-cuda");
}
