/* The file that `ostler-node cards` keeps: what is in it when NVML answers, hangs, crashes and
 * returns, and that nothing is written when nothing changes. */
#include "node/gpus/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "node/gpus/kept.h"
#include "tests/unit/node_gpus/own_root.h"
#include "tests/unit/support/suite.h"

enum { LIMIT_MS = 300, TEXT_MAX = 4096 };

#define FIRST BOOT " 0123456789abcdef"
#define CARDS "card GPU-0 40960\nmig GPU-0 1g.5gb MIG-0\ncard GPU-1 40960\n"

/* ---- the order */

static void check_order(void **state)
{
    (void) state;
    struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(
        "'proc/driver/nvidia/gpus/0000:ca:00.0':{'folder':true},"
        "'proc/driver/nvidia/gpus/0000:65:00.0':{'folder':true},"
        "'proc/driver/nvidia/gpus/0000:1f:00.0':{'folder':true},"
        "'proc/driver/nvidia/gpus/10000:1f:00.0':{'folder':true},"
        "'proc/driver/nvidia/gpus/LD_PRELOAD':{'folder':true}",
        &root);
    CLEANUP_BUF struct buf usual = BUF_INIT(ORDER_MAX), last = BUF_INIT(ORDER_MAX);
    CLEANUP_VIEW struct view v = { .root = &root };
    struct hung hung = { .len = 0 };
    order_gpus(&v, &hung, &usual);
    assert_string_equal(buf_text(&usual), "0000:1f:00.0 0000:65:00.0 0000:ca:00.0 10000:1f:00.0 ");
    order_add(&hung, "0000:65:00.0");
    order_add(&hung, "0000:1f:00.0");
    order_add(&hung, "0000:65:00.0");
    assert_int_equal(hung.len, 2);
    order_gpus(&v, &hung, &last);
    assert_string_equal(buf_text(&last), "0000:ca:00.0 10000:1f:00.0 0000:1f:00.0 0000:65:00.0 ");
    root_close(&root);
}

/* Which GPU it asked about last without an answer, and which ones still count as hung. */
static void check_take(void **state)
{
    (void) state;
    static const struct {
        const char *said, *last;
        size_t left;
    } rows[] = {
        { "", "", 2 },
        { "asks 0000:01:00.0\n", "0000:01:00.0", 2 },
        { "asks 0000:01:00.0\ncard GPU-1 1\nhealth 0000:01:00.0 lost=true\n", "", 1 },
        /* health of another GPU is no answer */
        { "asks 0000:03:00.0\nhealth 0000:01:00.0 lost=true\n", "0000:03:00.0", 2 },
        { "health 0000:01:00.0 lost=true\n", "", 2 },
        { "asks 0000:01:00.0\nhealth 0000:01:00.0\nasks 0000:02:00.0\n", "0000:02:00.0", 1 },
        { "asks 0000:03:00.0\nasks 0000:02:00.0\nhealth 0000:02:00.0\n", "", 1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hung hung = { .len = 0 };
        char last[CARD_ADDRESS_MAX + 1];
        order_add(&hung, "0000:01:00.0");
        order_add(&hung, "0000:02:00.0");
        order_take(&hung, part_of(rows[i].said), last);
        assert_string_equal(last, rows[i].last);
        assert_int_equal(hung.len, rows[i].left);
    }
}

/* ---- what is put into the file */

static const struct put_row {
    const char *name;
    const char *old; /* NULL: there is no file */
    const char *said;
    const char *hangs;
    const char *want;
    bool writes;
} puts_of[] = {
    { "the first answer", NULL,
      "asks 0000:10:00.0\n" CARDS "health 0000:10:00.0 recovery=None\nend\n", "",
      FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nend\n", true },
    { "the same answer", FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nend\n",
      "asks 0000:10:00.0\n" CARDS "health 0000:10:00.0 recovery=None\nend\n", "",
      FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nend\n", false },
    { "other health", FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nend\n",
      CARDS "health 0000:10:00.0 recovery=Reset\nend\n", "",
      FIRST "\n" CARDS "health 0000:10:00.0 recovery=Reset\nend\n", true },
    { "no answer: cards stay, health goes",
      FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nend\n", "", "", FIRST "\n" CARDS "end\n",
      true },
    { "no answer again", FIRST "\n" CARDS "end\n", "", "", FIRST "\n" CARDS "end\n", false },
    { "no answer, and another layout before", BOOT " 00000000deadbeef\n" CARDS "end\n", "", "",
      FIRST "\nend\n", true },
    { "no answer, and half a file before", FIRST "\n" CARDS, "", "", FIRST "\nend\n", true },
    { "no answer ever", NULL, "", "", FIRST "\nend\n", true },
    { "a GPU hangs: what was said of it is not all",
      FIRST "\n" CARDS
            "health 0000:10:00.0 recovery=None\nhealth 0000:11:00.0 recovery=None\nend\n",
      "asks 0000:10:00.0\ncard GPU-0 40960\nmig GPU-0 1g.5gb MIG-0\n"
      "health 0000:10:00.0 recovery=None\nasks 0000:11:00.0\ncard GPU-1 1\n",
      "0000:11:00.0",
      FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nhealth 0000:11:00.0 hangs=true\nend\n",
      true },
    { "a GPU does not answer: what is known of it stays, in its place",
      FIRST "\n" CARDS "health 0000:10:00.0 recovery=None\nend\n",
      "asks 0000:11:00.0\ncard GPU-1 81559\nhealth 0000:11:00.0 recovery=None\n"
      "asks 0000:10:00.0\nhealth 0000:10:00.0 lost=true\nend\n",
      "",
      FIRST "\ncard GPU-0 40960\nmig GPU-0 1g.5gb MIG-0\ncard GPU-1 81559\n"
            "health 0000:10:00.0 lost=true\nhealth 0000:11:00.0 recovery=None\nend\n",
      true },
    { "a GPU is divided in another way", FIRST "\n" CARDS "end\n",
      "card GPU-0 40960\nmig GPU-0 7g.40gb MIG-9\ncard GPU-1 40960\nend\n", "",
      FIRST "\ncard GPU-0 40960\nmig GPU-0 7g.40gb MIG-9\ncard GPU-1 40960\nend\n", true },
    { "a GPU hangs that had an answer before", NULL, "health 0000:11:00.0 recovery=None\n",
      "0000:11:00.0", FIRST "\nhealth 0000:11:00.0 hangs=true\nend\n", true },
};

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* An hour ago, so that a later time is seen. */
static void make_old(const char *path)
{
    struct timeval times[2];
    gettimeofday(&times[0], NULL);
    times[0].tv_sec -= 3600;
    times[1] = times[0];
    assert_int_equal(utimes(path, times), 0);
}

static char *text_of(const char *path)
{
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_read_all(fd, &text), 0);
    return buf_take(&text);
}

static bool is_of_now(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return time(NULL) - st.st_mtime < 60;
}

static void check_put(void **state)
{
    const struct put_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *root = fake_root_with("'run/x':''");
    CLEANUP_FREE char *file = xasprintf("%s/run/cards", root);
    struct stat before = { 0 }, after;
    if (row->old) {
        write_text(file, row->old);
        make_old(file);
        assert_int_equal(stat(file, &before), 0);
    }
    bool wrote = !row->writes;
    const struct answer a = { part_of(row->said), row->hangs };
    assert_int_equal(kept_put(file, FIRST, &a, &wrote, &e), 0);
    CLEANUP_FREE char *got = text_of(file);
    assert_string_equal(got, row->want);
    assert_int_equal(wrote, row->writes);
    assert_true(is_of_now(file));
    /* Another file means an event for the agent. */
    assert_int_equal(stat(file, &after), 0);
    assert_int_equal(before.st_ino != after.st_ino, row->writes);
}

/* What lies in the place of the file is not opened in a way that waits. */
static void check_fifo(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *root = fake_root_with("'run/cards':{'fifo':true}");
    CLEANUP_FREE char *file = xasprintf("%s/run/cards", root);
    const struct answer a = { PART("end\n"), "" };
    bool wrote;
    assert_int_equal(kept_put(file, FIRST, &a, &wrote, &e), 0);
    CLEANUP_FREE char *got = text_of(file);
    assert_string_equal(got, FIRST "\nend\n");
}

static void check_no_folder(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    const struct answer a = { PART("end\n"), "" };
    bool wrote;
    assert_int_equal(kept_put("/nowhere/cards", FIRST, &a, &wrote, &e), -1);
    assert_non_null(strstr(err_msg(&e), "/nowhere/cards"));
}

/* ---- turns, with a library that changes */

struct world {
    char *base, *library, *file;
    struct root host;
    struct keeper k;
};

static void world_begin(struct world *w)
{
    w->base = own_root_new();
    w->library = xasprintf("%s/usr/lib64", w->base);
    w->file = xasprintf("%s/run/cards", w->base);
    w->host.fd = -1;
    assert_int_equal(root_open(&w->host, w->base, NULL), 0);
    w->k = (struct keeper){ &w->host, w->file, LIMIT_MS, .asker.helper = -1 };
    assert_int_equal(keeper_open(&w->k, NULL), 0);
}

static void world_end(struct world *w)
{
    keeper_close(&w->k);
    root_close(&w->host);
    fake_root_free(w->base);
    free(w->library);
    free(w->file);
}

/* What a turn puts into the file after its first line. Owned by the caller. */
static char *turn(struct world *w, const char *script)
{
    script_put(w->library, script, 0);
    keeper_turn(&w->k);
    CLEANUP_FREE char *text = text_of(w->file);
    assert_true(str_has_prefix(text, BOOT " "));
    return xstrdup(strchr(text, '\n') + 1);
}

/* Turns, and compares what is in the file. */
static void expect(struct world *w, const char *script, const char *want_health)
{
    static const char cards[] = "card GPU-0 40960\n"
                                "mig GPU-0 1g.5gb MIG-0\nmig GPU-0 1g.5gb MIG-1\n"
                                "mig GPU-0 1g.5gb MIG-3\nmig GPU-0 1g.5gb MIG-4\n"
                                "mig GPU-0 1g.5gb MIG-6\ncard GPU-1 40960\n";
    CLEANUP_FREE char *got = turn(w, script), *want = xasprintf("%s%send\n", cards, want_health);
    assert_string_equal(got, want);
}

#define WELL_0 "health 0000:10:00.0 doubleBitErrors=4\n"
#define WELL_1 "health 0000:11:00.0 doubleBitErrors=3\n"
#define HANGS_0 "health 0000:10:00.0 hangs=true\n"
#define HANGS_1 "health 0000:11:00.0 hangs=true\n"

static void check_turns(void **state)
{
    (void) state;
    struct world w;
    struct stat before, after;
    if (geteuid() != 0)
        return; /* another root is for those who may */
    world_begin(&w);
    expect(&w, "", WELL_0 WELL_1);
    assert_int_equal(stat(w.file, &before), 0);
    make_old(w.file);
    expect(&w, "", WELL_0 WELL_1);
    assert_int_equal(stat(w.file, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_true(is_of_now(w.file));
    expect(&w, "0 GPU_IS_LOST", "health 0000:10:00.0 lost=true\n" WELL_1);
    /* The first GPU hides the second once; after that it comes last. */
    expect(&w, "0 HANG", HANGS_0);
    expect(&w, "0 HANG", HANGS_0 WELL_1);
    expect(&w, "0 HANG", HANGS_0 WELL_1);
    /* Both hang: one of them is named, and it stays that one. */
    expect(&w, "0 HANG\n1 HANG", HANGS_1);
    expect(&w, "0 HANG\n1 HANG", HANGS_0);
    expect(&w, "0 HANG\n1 HANG", HANGS_0);
    expect(&w, "0 HANG\n1 HANG", HANGS_0);
    /* Back again. */
    expect(&w, "", WELL_0 WELL_1);
    assert_int_equal(w.k.hung.len, 0);
    world_end(&w);
}

/* All of them together take too long: what is complete counts, and no GPU is called hanging. */
static void check_slow_turns(void **state)
{
    (void) state;
    struct world w;
    if (geteuid() != 0)
        return; /* another root is for those who may */
    world_begin(&w);
    expect(&w, "", WELL_0 WELL_1);
    expect(&w, "1 SLOW", WELL_0);
    assert_string_equal(w.k.hangs, "");
    expect(&w, "", WELL_0 WELL_1);
    assert_int_equal(w.k.hung.len, 0);
    /* The first GPU hides the second once; after that it comes last. */
    expect(&w, "0 SLOW", "");
    expect(&w, "0 SLOW", WELL_1);
    expect(&w, "0 HANG", HANGS_0 WELL_1);
    world_end(&w);
}

/* A library that fails as a whole: nothing is known of the health of any GPU. */
static void check_failure(void **state)
{
    (void) state;
    struct world w;
    if (geteuid() != 0)
        return; /* another root is for those who may */
    world_begin(&w);
    expect(&w, "", WELL_0 WELL_1);
    CLEANUP_FREE char *library = xasprintf("%s/libnvidia-ml.so.1", w.library);
    write_text(library, "no library");
    expect(&w, "", "");
    assert_non_null(strstr(err_msg(&w.k.failure), "the loader of the driver's root cannot load"));
    copy_file(LIBRARY, w.base, "/usr/lib64/libnvidia-ml.so.1");
    expect(&w, "", WELL_0 WELL_1);
    assert_string_equal(err_msg(&w.k.failure), "");
    world_end(&w);
}

/* While a process hangs in the kernel, no other starts, and the file names its GPU. */
static void check_stuck(void **state)
{
    (void) state;
    struct world w;
    if (geteuid() != 0)
        return; /* another root is for those who may */
    world_begin(&w);
    expect(&w, "", WELL_0 WELL_1);
    expect(&w, "1 HANG", WELL_0 HANGS_1);
    w.k.asker.stuck = fork();
    assert_true(w.k.asker.stuck >= 0);
    if (w.k.asker.stuck == 0)
        for (;;)
            pause();
    expect(&w, "", HANGS_1);
    make_old(w.file);
    expect(&w, "", HANGS_1);
    assert_true(is_of_now(w.file));
    assert_int_equal(kill(w.k.asker.stuck, SIGKILL), 0);
    while (asker_is_stuck(&w.k.asker))
        usleep(10 * 1000);
    expect(&w, "", WELL_0 WELL_1);
    world_end(&w);
}

/* Without a driver there is nothing to keep. */
static void check_no_module(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root host = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *root = fake_root_with("'run/x':''");
    CLEANUP_FREE char *file = xasprintf("%s/run/cards", root);
    assert_int_equal(root_open(&host, root, NULL), 0);
    struct keeper k = { &host, file, LIMIT_MS, .asker.helper = -1 };
    keeper_turn(&k);
    assert_int_not_equal(access(file, F_OK), 0);
    keeper_close(&k);
}

int main(void)
{
    struct suite s = { 0 };
    log_setup(LOG_SILENT, false);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    put_helper_beside();
    suite_add(&s, "the order", check_order, NULL);
    suite_add(&s, "which GPU hangs", check_take, NULL);
    for (size_t i = 0; i < ARRAY_LEN(puts_of); i++)
        suite_add(&s, puts_of[i].name, check_put, &puts_of[i]);
    suite_add(&s, "a FIFO in the place of the file", check_fifo, NULL);
    suite_add(&s, "no folder for the file", check_no_folder, NULL);
    suite_add(&s, "turns", check_turns, NULL);
    suite_add(&s, "turns that take too long", check_slow_turns, NULL);
    suite_add(&s, "a library that cannot be loaded", check_failure, NULL);
    suite_add(&s, "a process that hangs in the kernel", check_stuck, NULL);
    suite_add(&s, "no driver", check_no_module, NULL);
    return suite_run(&s, "keeper");
}
