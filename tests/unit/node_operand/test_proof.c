/* `ostler-node proof`: the CUDA sample of an image, and what is told of the GPU that it ran on. */
#include "node/operand/proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* nvidia-smi says what is in the folder `smi` of the image, by what it is asked. */
#define SMI                                                                                        \
    "cd \"$OSTLER_IMAGE/smi\"; case \"$1\" in --query-gpu=*) cat \"${1#*=}\";; -q) cat all;; "     \
    "-L) cat list;; esac"
#define LIST "'smi/list':'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\\n"
#define ALL_BUT_LIST                                                                               \
    "'smi/driver_version':'580.178.04\\n580.178.04\\n','smi/name':'NVIDIA H100 80GB "              \
    "HBM3\\nother\\n',"                                                                            \
    "'smi/memory.total':'81559\\n1\\n','smi/compute_cap':'9.0\\n','smi/all':'Driver Version  : "   \
    "580.178.04\\n"                                                                                \
    "CUDA Version    : 13.0\\n\\nGPU 0\\n    CUDA Version : x\\n',"
#define FACTS ALL_BUT_LIST LIST "'"
#define TOLD                                                                                       \
    "driver=580.178.04\nproduct=NVIDIA H100 80GB HBM3\nmemory=81559\ncompute=9.0\ncuda=13.0\n"
#define NEWEST "cuda-samples/sample"

static const struct row {
    const char *name;
    const char *files;
    const char *samples[2]; /* that can be run */
    const char *does[2];    /* and what they do */
    const char *smi;        /* NULL: there is none */
    const char *told;
    const char *error;
} rows[] = {
    { "the sample runs, and the facts of the first GPU are told",
      FACTS,
      { NEWEST },
      { "exit 0" },
      SMI,
      TOLD,
      NULL },
    { "the sample of an older image",
      FACTS,
      { "cuda-samples/vectorAdd" },
      { "exit 0" },
      SMI,
      TOLD,
      NULL },
    { "the sample of the oldest", FACTS, { "tmp/vectorAdd" }, { "exit 0" }, SMI, TOLD, NULL },
    { "the newest of two counts",
      FACTS,
      { "tmp/vectorAdd", NEWEST },
      { "exit 1", "exit 0" },
      SMI,
      TOLD,
      NULL },
    { "what cannot be run is none",
      FACTS ",'" NEWEST "':''",
      { "tmp/vectorAdd" },
      { "exit 0" },
      SMI,
      TOLD,
      NULL },
    { "what it has is a slice",
      ALL_BUT_LIST LIST "  MIG 1g.10gb     Device  0: (UUID: MIG-2)\\n'",
      { NEWEST },
      { "exit 0" },
      SMI,
      TOLD "slice=1g.10gb\n",
      NULL },
    { "the sample fails",
      FACTS,
      { NEWEST },
      { "echo no device >&2; exit 3" },
      SMI,
      "",
      "./" NEWEST " ended with 3" },
    { "the sample crashes",
      FACTS,
      { NEWEST },
      { "kill -SEGV $$" },
      SMI,
      "",
      "./" NEWEST " was ended by signal 11" },
    { "an image without a sample",
      FACTS,
      { NULL },
      { NULL },
      SMI,
      "",
      "the image has no CUDA sample: none of cuda-samples/sample, cuda-samples/vectorAdd and "
      "tmp/vectorAdd can be run" },
    { "unknown facts are left out", "'x':''", { NEWEST }, { "exit 0" }, "exit 0", "", NULL },
    { "an image without nvidia-smi", FACTS, { NEWEST }, { "exit 0" }, NULL, "", NULL },
    { "what fails has told nothing", FACTS, { NEWEST }, { "exit 0" }, SMI "; exit 6", "", NULL },
    { "what is too long is no fact",
      "'smi/name':'"
      "0123456789012345678901234567890123456789012345678901234567890123456789"
      "0123456789012345678901234567890123456789012345678901234567890123456789\\n'",
      { NEWEST },
      { "exit 0" },
      SMI,
      "",
      NULL },
    { "words without end",
      "'smi/x':''",
      { NEWEST },
      { "exit 0" },
      "yes | head -c 200000",
      "driver=y\nproduct=y\nmemory=y\ncompute=y\n",
      NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *text = xasprintf("{'files':{'log':'',%s}}", row->files);
    CLEANUP_JSON json_t *machine = tree(text);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    struct buf told = BUF_INIT(4096);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_FREE char *log = xasprintf("%s/log", path),
                      *all = xasprintf("%s/bin:%s", path, row->smi ? "/usr/bin:/bin" : "/none"),
                      *here = getcwd(NULL, 0);
    assert_int_equal(root_open(&root, path, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(row->samples) && row->samples[i]; i++)
        fake_root_program(path, row->samples[i], row->does[i]);
    if (row->smi)
        fake_root_program(path, "bin/nvidia-smi", row->smi);
    setenv("OSTLER_IMAGE", path, 1);
    setenv("PATH", all, 1);
    int rc = proof_run(&root, log, &e);
    assert_int_equal(chdir(here), 0);
    root_read(&root, "log", &told);
    CLEANUP_FREE char *said = buf_take(&told);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_string_equal(said, row->told);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "proof");
}
