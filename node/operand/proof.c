#include "node/operand/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "node/inventory/root.h"
#include "node/operand/place.h"
#include "node/operand/program.h"
#include "node/operand/proof_cuda.h"

/* SMI_MS: for each call of nvidia-smi. SMI_MAX: bytes read from it. FACT_MAX: bytes of a fact. */
enum { SMI_MS = 20 * 1000, SMI_MAX = 64 * 1024, FACT_MAX = 128, FACTS_MAX = 2048, SELF_MAX = 32 };

/* Paths of the sample in NVIDIA's images, newest first. */
static const char *const samples[] = { "cuda-samples/sample", "cuda-samples/vectorAdd",
                                       "tmp/vectorAdd" };

/* ---- what nvidia-smi prints */

static const struct part nothing = { "", 0 };

struct part proof_first_line(struct part text)
{
    struct part line;
    return part_next(&text, '\n', &line) ? part_trimmed(line) : nothing;
}

/* The line starts like "CUDA Version                              : 13.0". */
struct part proof_cuda_version(struct part text)
{
    struct part line, name;
    while (part_next(&text, '\n', &line))
        if (part_begins(line, "CUDA Version") && part_next(&line, ':', &name))
            return part_trimmed(line);
    return nothing;
}

/* The line is like "  MIG 1g.10gb     Device  0: (UUID: MIG-…)". */
struct part proof_slice(struct part text)
{
    struct part line, word, profile;
    while (part_next(&text, '\n', &line))
        if (part_word(&line, &word) && part_is(word, "MIG") && part_word(&line, &profile))
            return profile;
    return nothing;
}

/* Queries to nvidia-smi, and how to read a fact from the output. */
static const struct fact {
    const char *key;
    const char *arguments[2];
    struct part (*take)(struct part text);
} facts[] = {
    { "driver",
      { "--query-gpu=driver_version", "--format=csv,noheader,nounits" },
      proof_first_line },
    { "product", { "--query-gpu=name", "--format=csv,noheader,nounits" }, proof_first_line },
    { "memory", { "--query-gpu=memory.total", "--format=csv,noheader,nounits" }, proof_first_line },
    { "compute", { "--query-gpu=compute_cap", "--format=csv,noheader,nounits" }, proof_first_line },
    { "cuda", { "-q", NULL }, proof_cuda_version },
    { "slice", { "-L", NULL }, proof_slice },
};

static bool can_run(const struct root *root, const char *path)
{
    CLEANUP_FD int fd = resolve(root->fd, path, true);
    char self[SELF_MAX];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return fd >= 0 && access(self, X_OK) == 0;
}

static int run_sample(const struct root *root, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        if (!can_run(root, samples[i]))
            continue;
        if (fchdir(root->fd) < 0)
            return err_set(e, ERR_SYSTEM, "cannot enter the root directory: %s", strerror(errno));
        CLEANUP_FREE char *program = xasprintf("./%s", samples[i]);
        char *const argv[] = { program, NULL };
        return program_run(argv, 0, NULL, e);
    }
    return err_set(e, ERR_NOT_FOUND,
                   "the image has no CUDA sample: none of %s, %s and %s can be run", samples[0],
                   samples[1], samples[2]);
}

static void proof_ask(const struct fact *f, struct buf *ret)
{
    CLEANUP_BUF struct buf said = BUF_INIT(SMI_MAX);
    char name[] = "nvidia-smi";
    CLEANUP_FREE char *first = xstrdup(f->arguments[0]), *second = xstrdup_or_null(f->arguments[1]);
    char *const argv[] = { name, first, second, NULL };
    if (program_run(argv, SMI_MS, &said, NULL) < 0)
        return;
    struct part value = f->take(part_of_buf(&said));
    if (value.len > 0 && value.len <= FACT_MAX)
        buf_printf(ret, "%s=%.*s\n", f->key, (int) value.len, value.at);
}

static int prove_by_sample(const struct root *root, struct buf *told, struct err *e)
{
    if (run_sample(root, e) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        proof_ask(&facts[i], told);
    return 0;
}

/* If the sample fails, the log is the termination message (ostler_node.c). */
int proof_run(const struct root *root, const char *words, struct err *e)
{
    CLEANUP_BUF struct buf told = BUF_INIT(FACTS_MAX);
    bool own = can_run(root, PROOF_CUDA_PROGRAM);
    int rc = own ? proof_cuda_run(root, &told, e) : prove_by_sample(root, &told, e);
    if (rc == 0)
        place_last_words(words, buf_text(&told));
    else if (own)
        place_last_words(words, err_msg(e));
    return rc;
}
