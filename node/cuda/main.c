/* ostler-cuda: checks whether the GPUs of a container or a machine compute. Output:
 *
 *     driver 580.178.04              its version
 *     cuda 13.0                      the newest CUDA that this driver runs
 *     card UUID MEMORY COMPUTE NAME  each visible GPU or MIG device; MiB; NAME may have blanks
 *     slice UUID PROFILE             it is a MIG device of this profile
 *     ecc UUID CORRECTED UNCORRECTED memory errors since the driver was loaded
 *     bandwidth UUID MIB             memory read and written in a second
 *     proven UUID                    the program ran on it with the right result
 *     failed UUID STATUS             it failed: the exit status for that (node/cuda/causes.h)
 *     end
 *
 * Unknown facts are left out. Each failure prints a sentence on standard error. The exit status is
 * the cause of the first failure. The program links libcuda.so.1 by name and starts like
 * ostler-nvml, so it runs with any loader and C library. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/cuda/causes.h"
#include "node/cuda/driver.h"
#include "node/cuda/facts.h"
#include "node/cuda/prove.h"
#include "node/nvml/begin.h"

/* Time limit of the program; it does not help if the driver hangs in the kernel.
 * OSTLER_CUDA_SECONDS overrides it. */
enum {
    LIMIT_S = 120,
    LIMIT_MAX_S = 3600,
    CARDS_MAX = 64,
    NAME_MAX_LEN = 96,
    UUID_MAX_LEN = 48,
    LINE_MAX_LEN = 512
};

/* A GPU or a MIG device. */
struct gpu {
    int device;
    char uuid[UUID_MAX_LEN], name[NAME_MAX_LEN];
    const char *profile; /* points into `name`; NULL: a whole GPU */
};

__attribute__((format(printf, 2, 3))) static void say(int to, const char *format, ...)
{
    char line[LINE_MAX_LEN];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    begin_write(to, line);
}

static enum cause complain(const char *of, enum cause cause, const struct failure *f)
{
    if (f->call)
        say(STDERR_FILENO, "%s: %s returned %d: %s\n", of, f->call, f->error, cause_text(cause));
    else
        say(STDERR_FILENO, "%s: %s\n", of, cause_text(cause));
    return cause;
}

/* Uses only functions that are safe in a signal handler. */
static void too_late(int signal_number)
{
    (void) signal_number;
    begin_write(STDERR_FILENO, "CUDA: ");
    /* NOLINTNEXTLINE(bugprone-signal-handler): it only reads a table. */
    begin_write(STDERR_FILENO, cause_text(CAUSE_TIME));
    begin_write(STDERR_FILENO, "\n");
    _exit(CAUSE_TIME);
}

/* Without atoi(), because a newer C library links a version of it that older ones lack. */
static void begin_time(void)
{
    const char *text = getenv("OSTLER_CUDA_SECONDS");
    unsigned seconds = 0;
    for (; text && *text >= '0' && *text <= '9' && seconds <= LIMIT_MAX_S; text++)
        seconds = seconds * 10 + (unsigned) (*text - '0');
    signal(SIGALRM, too_late);
    alarm(seconds > 0 && seconds <= LIMIT_MAX_S ? seconds : LIMIT_S);
}

/* ---- one GPU */

static void find_uuid(struct gpu *c)
{
    struct cuda_uuid uuid = { { 0 } };
    /* For a MIG device, the older function returns the UUID of its GPU. */
    if (cuDeviceGetUuid_v2)
        cuDeviceGetUuid_v2(&uuid, c->device);
    else
        cuDeviceGetUuid(&uuid, c->device);
    int at = snprintf(c->uuid, sizeof c->uuid, "%s", c->profile ? "MIG" : "GPU");
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        at += snprintf(c->uuid + at, sizeof c->uuid - (size_t) at, "%s%02x",
                       i == 0 || (i >= 4 && i <= 10 && i % 2 == 0) ? "-" : "", uuid.bytes[i]);
}

/* Splits "NVIDIA A100-SXM4-40GB MIG 1g.5gb" into the name and "1g.5gb". Replaces all but printable
 * ASCII with "?". */
static void find_name(struct gpu *c)
{
    static const char mark[] = " MIG ";
    if (cuDeviceGetName(c->name, sizeof c->name - 1, c->device) != CUDA_OK)
        c->name[0] = '\0';
    c->name[sizeof c->name - 1] = '\0';
    for (char *at = c->name; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    char *slice = strstr(c->name, mark);
    c->profile = slice ? slice + sizeof mark - 1 : NULL;
    if (slice)
        *slice = '\0';
}

static void main_print(const struct gpu *c)
{
    int major = 0, minor = 0;
    size_t bytes = 0;
    unsigned long long mib;
    struct ecc ecc;
    cuDeviceGetAttribute(&major, CUDA_COMPUTE_MAJOR, c->device);
    cuDeviceGetAttribute(&minor, CUDA_COMPUTE_MINOR, c->device);
    if (!facts_memory(c->uuid, &mib)) {
        cuDeviceTotalMem_v2(&bytes, c->device);
        mib = bytes >> 20;
    }
    say(STDOUT_FILENO, "card %s %llu %d.%d %s\n", c->uuid, mib, major, minor, c->name);
    if (c->profile)
        say(STDOUT_FILENO, "slice %s %s\n", c->uuid, c->profile);
    if (facts_ecc(c->uuid, &ecc))
        say(STDOUT_FILENO, "ecc %s %llu %llu\n", c->uuid, ecc.corrected, ecc.uncorrected);
}

static enum cause prove_gpu(const struct gpu *c)
{
    struct failure f;
    unsigned long long mib_s;
    int rc = prove(c->device, &mib_s, &f);
    if (rc != 0) {
        enum cause cause = complain(c->uuid, rc < 0 ? cause_of(f.error) : CAUSE_WRONG, &f);
        say(STDOUT_FILENO, "failed %s %d\n", c->uuid, (int) cause);
        return cause;
    }
    if (mib_s)
        say(STDOUT_FILENO, "bandwidth %s %llu\n", c->uuid, mib_s);
    say(STDOUT_FILENO, "proven %s\n", c->uuid);
    return CAUSE_NONE;
}

static enum cause main_look_at(int index)
{
    struct gpu c = { .profile = NULL };
    struct failure f = { "cuDeviceGet", cuDeviceGet(&c.device, index) };
    if (f.error)
        return complain("CUDA", cause_of(f.error), &f);
    find_name(&c);
    find_uuid(&c);
    main_print(&c);
    return prove_gpu(&c);
}

/* ---- all GPUs */

static void print_versions(void)
{
    int cuda = 0;
    char driver[NAME_MAX_LEN] = "";
    facts_open();
    if (facts_driver(driver, sizeof driver))
        say(STDOUT_FILENO, "driver %s\n", driver);
    if (cuDriverGetVersion(&cuda) == CUDA_OK)
        say(STDOUT_FILENO, "cuda %d.%d\n", cuda / 1000, cuda % 1000 / 10);
}

static enum cause look_at_all(void)
{
    int count = 0;
    enum cause first = CAUSE_NONE;
    struct failure f = { "cuInit", cuInit(0) };
    if (!f.error)
        f = (struct failure){ "cuDeviceGetCount", cuDeviceGetCount(&count) };
    if (f.error)
        return complain("CUDA", cause_of(f.error), &f);
    if (count <= 0)
        return complain("CUDA", CAUSE_NO_GPU, &(struct failure){ NULL, 0 });
    print_versions();
    for (int i = 0; i < count && i < CARDS_MAX; i++) {
        enum cause cause = main_look_at(i);
        if (first == CAUSE_NONE)
            first = cause;
    }
    begin_write(STDOUT_FILENO, "end\n");
    return first;
}

void begin(void)
{
    begin_time();
    _exit((int) (prove_can() ? look_at_all()
                             : complain("CUDA", CAUSE_FUNCTIONS, &(struct failure){ NULL, 0 })));
}

#ifdef OSTLER_WITH_MAIN
int main(void)
{
    begin();
}
#endif
