#include "base/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "tests/unit/support/suite.h"

/* The value of a metric without labels, as a scrape shows it. */
static double value_of(const struct metrics *m, const char *name)
{
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    metrics_text(m, &out);
    CLEANUP_FREE char *line = xasprintf("\n%s ", name);
    const char *at = strstr(buf_text(&out), line);
    if (!at)
        fail_msg("no %s in\n%s", name, buf_text(&out));
    return strtod(at + strlen(line), NULL);
}

static void everything_is_there_from_the_start(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(10);
    process_metrics_add(m);
    double resident = value_of(m, "process_resident_memory_bytes");
    assert_true(resident > 100e3 && resident < 10e9);
    assert_true(value_of(m, "process_virtual_memory_bytes") > resident);
    assert_true(value_of(m, "process_max_fds") >= 16);
    double started = value_of(m, "process_start_time_seconds");
    assert_true(started > (double) time(NULL) - 60 && started < (double) time(NULL) + 2);
    metrics_free(m);
}

static void updates_follow_and_the_start_time_stays(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(10);
    const struct process_metrics p = process_metrics_add(m);
    double open_before = value_of(m, "process_open_fds"),
           started = value_of(m, "process_start_time_seconds");
    double cpu = value_of(m, "process_cpu_seconds_total");
    int fd = open("/dev/null", O_RDONLY);
    usleep(2000);
    process_metrics_update(&p);
    assert_true(value_of(m, "process_open_fds") == open_before + 1);
    assert_true(value_of(m, "process_start_time_seconds") == started);
    assert_true(value_of(m, "process_cpu_seconds_total") >= cpu);
    close(fd);
    metrics_free(m);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "everything is there from the start", everything_is_there_from_the_start, NULL);
    suite_add(&s, "updates follow, and the start time stays",
              updates_follow_and_the_start_time_stays, NULL);
    return suite_run(&s, "process");
}
