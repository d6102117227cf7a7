/* The same seed gives the same run, and the life without faults is as it should be under any seed:
 * also in what it logs, and in a day in which nothing happens. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/sweep/sweep.h"

size_t same_cases(const struct sweep_env *env)
{
    (void) env;
    return SWEEP_SEEDS;
}

/* What a life logs, at its most talkative, comes into memory instead. */
static int keep_log(int *ret_stderr)
{
    int file = memfd_create("log", MFD_CLOEXEC);
    *ret_stderr = dup(STDERR_FILENO);
    if (file < 0 || *ret_stderr < 0 || dup2(file, STDERR_FILENO) < 0) {
        perror("sweep");
        exit(2);
    }
    log_setup(LOG_DEBUG, true);
    return file;
}

/* Ends that; how many lines there were, each secret in them a finding. */
static size_t read_log(int file, int real_stderr, struct run_result *result)
{
    static const char *const secrets[] = { SECRET_CANARY, POLICY_CANARY };
    log_setup(LOG_SILENT, false);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    FILE *log = fdopen(file, "r");
    rewind(log);
    CLEANUP_FREE char *line = NULL;
    size_t cap = 0, lines = 0;
    for (; getline(&line, &cap, log) > 0; lines++)
        for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
            if (strstr(line, secrets[i])) {
                buf_printf(&result->findings, "a secret is in the log: %s", line);
                result->finding_count++;
            }
    fclose(log);
    return lines;
}

/* A life with a day of quiet in it, whose log is read. */
static size_t live_and_listen(const struct sweep_env *env, struct run_plan *plan, size_t day,
                              struct counts *counts, struct buf *out)
{
    plan->quiet_day = day;
    struct run_result result;
    int real_stderr, log = keep_log(&real_stderr);
    run_life(env->life, plan, &result);
    result.counts.log_lines = read_log(log, real_stderr, &result);
    buf_str(out, buf_text(&result.findings));
    counts_add(counts, &result.counts);
    size_t found = result.finding_count;
    run_result_clear(&result);
    return found;
}

size_t same_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct run_plan plan = {
        .seed = index + 1, .calm = true, .second_pass_each = true, .verbose = env->verbose
    };
    struct run_result first, second;
    size_t found = 0;
    run_life(env->life, &plan, &first);
    plan.verbose = false;
    run_life(env->life, &plan, &second);
    if (env->single)
        printf("seed %zu: trace %016" PRIx64 " and %016" PRIx64 "\n", index, first.trace,
               second.trace);
    if (first.trace != second.trace) {
        buf_printf(out, "the seed's two runs are not the same: %016" PRIx64 " and %016" PRIx64 "\n",
                   first.trace, second.trace);
        found++;
    }
    buf_str(out, buf_text(&first.findings));
    found += first.finding_count;
    counts_add(counts, &first.counts);
    counts_add(counts, &second.counts);
    run_result_clear(&first);
    run_result_clear(&second);
    return found ? found : live_and_listen(env, &plan, 1 + index % env->life->phases, counts, out);
}
