#include "node/operand/proof_cuda.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/inventory/text.h"
#include "node/operand/mounts.h"
#include "node/operand/program.h"

/* The program has its own limit; this one applies if the driver hangs in the kernel. */
enum {
    LIMIT_MS = 150 * 1000,
    SAID_MAX = 64 * 1024,
    MOUNTS_MAX = 1 << 20,
    PATHS_MAX = 4096,
    FACT_MAX = 128,
    SENTENCE_MAX = 512
};

#define LIBRARIES "usr/lib/ostler"
#if defined(__aarch64__)
#define LOADER LIBRARIES "/ld-linux-aarch64.so.1"
#else
#define LOADER LIBRARIES "/ld-linux-x86-64.so.2"
#endif

/* Lines of the program that carry facts. The words after the first are facts with these keys; the
 * last key takes the rest of the line; "": not reported. Any other line is a sentence of the
 * program or the loader. */
static const struct line {
    const char *word;
    const char *keys[4];
} lines[] = {
    { "driver", { "driver" } },
    { "cuda", { "cuda" } },
    { "card", { "", "memory", "compute", "product" } },
    { "slice", { "", "slice" } },
    { "ecc", { NULL } },
    { "bandwidth", { NULL } },
    { "proven", { NULL } },
    { "failed", { NULL } },
    { "end", { NULL } },
};

/* The row for a line's first word, which is removed from the line; NULL: a sentence. */
static const struct line *line_of(struct part *text)
{
    struct part rest = *text, word;
    for (size_t i = 0; part_word(&rest, &word) && i < ARRAY_LEN(lines); i++, rest = *text)
        if (part_is(word, lines[i].word)) {
            *text = rest;
            return &lines[i];
        }
    return NULL;
}

static void add_facts(const struct line *line, struct part rest, struct buf *ret)
{
    struct part value;
    for (size_t i = 0; i < ARRAY_LEN(line->keys) && line->keys[i]; i++) {
        bool is_last = i + 1 == ARRAY_LEN(line->keys) || !line->keys[i + 1];
        if (is_last)
            value = part_trimmed(rest);
        else if (!part_word(&rest, &value))
            return;
        if (*line->keys[i] && value.len > 0 && value.len <= FACT_MAX)
            buf_printf(ret, "%s=%.*s\n", line->keys[i], (int) value.len, value.at);
    }
}

/* Stops at the line "proven" of the first GPU. */
static void read_facts(struct part said, struct buf *ret)
{
    struct part text;
    while (part_next(&said, '\n', &text) && !part_begins(text, "proven ")) {
        const struct line *line = line_of(&text);
        if (line)
            add_facts(line, text, ret);
    }
}

/* The error is the first printed sentence, or else how the program ended. */
static int explain(struct part said, struct err *e)
{
    struct part text;
    while (part_next(&said, '\n', &text)) {
        struct part sentence = part_trimmed(text);
        if (sentence.len > 0 && !line_of(&text))
            return err_set(e, ERR_SYSTEM, "%.*s",
                           (int) (sentence.len < SENTENCE_MAX ? sentence.len : SENTENCE_MAX),
                           sentence.at);
    }
    return err_wrap(e, "ostler-cuda");
}

/* Library directories: the image's, then the mounts with which the runtime adds the driver's. */
static int find_libraries(const struct root *root, struct buf *ret, struct err *e)
{
    CLEANUP_BUF struct buf mounts = BUF_INIT(MOUNTS_MAX);
    int why = root_read(root, "proc/self/mounts", &mounts);
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot read the mounts of this container: %s",
                       strerror(why));
    buf_printf(ret, "./" LIBRARIES);
    if (mounts_add_folders(part_of_buf(&mounts), "libcuda.so.", ret))
        return 0;
    return err_set(e, ERR_NOT_FOUND,
                   "the container was given no libcuda.so: the container runtime did not add the "
                   "driver's libraries");
}

int proof_cuda_run(const struct root *root, struct buf *facts, struct err *e)
{
    struct buf paths = BUF_INIT(PATHS_MAX);
    CLEANUP_BUF struct buf said = BUF_INIT(SAID_MAX);
    int found = find_libraries(root, &paths, e);
    CLEANUP_FREE char *libraries = buf_take(&paths);
    if (found < 0)
        return -1;
    if (fchdir(root->fd) < 0)
        return err_set(e, ERR_SYSTEM, "cannot enter the root directory: %s", strerror(errno));
    char loader[] = "./" LOADER, option[] = "--library-path", program[] = "./" PROOF_CUDA_PROGRAM;
    char *const argv[] = { loader, option, libraries, program, NULL };
    int rc = program_run_in(NULL, argv, LIMIT_MS, true, &said, e);
    fputs(buf_text(&said), stdout);
    const struct part text = part_of_buf(&said);
    if (rc < 0)
        return explain(text, e);
    read_facts(text, facts);
    return 0;
}
