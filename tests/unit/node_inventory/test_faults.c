/* The list of faults over several readings of a log: each row is a story of logs, and what is
 * reported after each. */
#include "node/inventory/faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "node/inventory/inventory.h"
#include "node/inventory/kernel_log.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { US = 1000 * 1000, STEPS_MAX = 8, BOOTED_S = 1700000000, TEXT_MAX = 1 << 20 };

#define BOOT_ID "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"
#define EARLIER "00000000-4d2c-4f5b-8d9a-6a2fb0a7b1c2"

/* A line of the kernel, `s` after the boot. */
#define AT(s) "<4>[    " s ".000000] "
#define XID(gpu, xid) "NVRM: Xid (PCI:0000:" gpu ":00): " xid ", pid=7, name=a, x\n"
#define FILLER "usb 1-1: new device\n"
/* The same, of another level. */
#define LOW(s) "<3>[    " s ".000000] "
#define SILENT_END "NVRM: fallen off the bus and is not responding to commands.\n"

enum kind {
    END,
    LOG,  /* the whole log, read `s` after the boot */
    TAIL, /* the same, of which only the end is read; it must be enough */
    LOST, /* the same; it must not be enough, and nothing is taken */
    JOIN, /* the agent starts, and the GpuNode reports these faults */
    SAYS, /* what is reported: "address xid count [what else] first-last", times after the boot */
};

struct step {
    enum kind kind;
    int s;
    const char *text;
    bool news;
};

#define LOG(s, text, news)                                                                         \
    {                                                                                              \
        LOG, s, text, news                                                                         \
    }
#define TAIL(s, text, news)                                                                        \
    {                                                                                              \
        TAIL, s, text, news                                                                        \
    }
#define LOST(s, text)                                                                              \
    {                                                                                              \
        LOST, s, text, false                                                                       \
    }
#define JOIN(s, text)                                                                              \
    {                                                                                              \
        JOIN, s, text, false                                                                       \
    }
#define SAYS(text)                                                                                 \
    {                                                                                              \
        SAYS, 0, text, false                                                                       \
    }

/* A fault as a GpuNode has it; times in seconds after the boot. */
#define SAID(gpu, xid, count, first, last, boot)                                                   \
    "{'address':'0000:" gpu ":00.0','xid':" xid ",'count':" count ",'first':'" first               \
    "','last':'" last "','bootId':'" boot "'}"
/* BOOTED_S is 2023-11-14T22:13:20Z. */
#define T20 "2023-11-14T22:13:40Z"
#define T30 "2023-11-14T22:13:50Z"
#define YESTERDAY "2023-11-13T22:13:20Z"

static const struct row {
    const char *name;
    struct step steps[STEPS_MAX];
} rows[] = {
    { "nothing", { LOG(100, AT("1") FILLER, false), SAYS("") } },
    { "one", { LOG(100, AT("20") XID("3b", "79"), true), SAYS("0000:3b:00.0 79 1 20-20;") } },
    { "the same log again is no news",
      { LOG(100, AT("20") XID("3b", "79"), true), TAIL(110, AT("20") XID("3b", "79"), false),
        SAYS("0000:3b:00.0 79 1 20-20;") } },
    { "an empty log",
      { LOG(100, "", false), LOG(110, AT("105") XID("3b", "79"), true),
        SAYS("0000:3b:00.0 79 1 105-105;") } },
    { "other lines are no news",
      { LOG(100, AT("20") XID("3b", "79"), true),
        TAIL(110, AT("20") XID("3b", "79") AT("105") FILLER, false),
        TAIL(120, AT("20") XID("3b", "79") AT("105") FILLER, false),
        SAYS("0000:3b:00.0 79 1 20-20;") } },
    { "one more",
      { LOG(100, AT("20") XID("3b", "31"), true),
        TAIL(110, AT("20") XID("3b", "31") AT("105") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 2 20-105;") } },
    { "each GPU and each number by itself, the newest last",
      { LOG(100,
            AT("20") XID("3b", "31") AT("21") XID("4c", "31") AT("22") XID("3b", "13") AT("23")
                XID("3b", "31"),
            true),
        SAYS("0000:4c:00.0 31 1 21-21;0000:3b:00.0 13 1 22-22;0000:3b:00.0 31 2 20-23;") } },
    { "the log has forgotten the first",
      { LOG(100, AT("20") XID("3b", "31") AT("21") FILLER, true),
        TAIL(110, AT("21") FILLER AT("105") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 2 20-105;") } },
    { "the log has forgotten all, and what is there came later",
      { LOG(100, AT("20") XID("3b", "31"), true), LOST(110, AT("105") XID("3b", "31")),
        LOG(110, AT("105") XID("3b", "31"), true), SAYS("0000:3b:00.0 31 2 20-105;") } },
    { "the last line has gone, others before it have not",
      { LOG(100, AT("20") XID("3b", "31") AT("21") FILLER, true),
        LOG(110, AT("20") XID("3b", "31") AT("105") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 2 20-105;") } },
    { "a stamp that is older than the last one, behind it",
      { LOG(100, AT("20") XID("3b", "31") AT("22") FILLER, true),
        TAIL(110, AT("20") XID("3b", "31") AT("22") FILLER AT("21") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 2 20-100;") } },
    { "equal lines with others between",
      { LOG(100, AT("20") XID("3b", "31") LOW("20") XID("3b", "13") AT("20") XID("3b", "31"), true),
        TAIL(110, AT("20") XID("3b", "31") LOW("20") XID("3b", "13") AT("20") XID("3b", "31"),
             false),
        TAIL(120,
             AT("20") XID("3b", "31") LOW("20") XID("3b", "13") AT("20") XID("3b", "31") LOW("20")
                 FILLER AT("20") XID("3b", "31"),
             true),
        SAYS("0000:3b:00.0 13 1 20-20;0000:3b:00.0 31 3 20-110;") } },

    /* messages of several lines */
    { "a GPU that does not answer when the driver starts",
      { LOG(100,
            AT("20") "NVRM: The NVIDIA GPU 0000:18:00.0\n" AT(
                "20") "NVRM: (PCI ID: 10de:2330) installed in this system has\n" AT("20")
                SILENT_END,
            true),
        SAYS("0000:18:00.0 79 1 20-20;") } },
    { "its end in another message",
      { LOG(100, AT("20") "NVRM: The NVIDIA GPU 0000:18:00.0\n" AT("21") SILENT_END, false),
        SAYS("") } },
    { "a line that a program begins within a message",
      { LOG(100,
            AT("20") "NVRM: has the version x\n" AT("20") XID("3b", "79")
                AT("20") "process 'x\n" AT("20") XID("4c", "79"),
            false),
        SAYS("") } },
    { "the same in a kernel that names who writes",
      { LOG(100, "<4>[   20.000000][ T1234] x\n<4>[   20.000000][ T1234] " XID("3b", "79"), false),
        SAYS("") } },
    { "a program that begins a line like one of another writer",
      { LOG(100,
            AT("20") "x\n" AT("20") "[ T1234] " XID("3b", "79") AT("20") AT("21") XID("3b", "79"),
            false),
        SAYS("") } },
    { "it ends the agent's reading, and hides nothing that comes later",
      { LOG(100, AT("20") "x\n" AT("20") XID("3b", "79"), false),
        TAIL(110, AT("20") "x\n" AT("20") XID("3b", "79") AT("105") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 1 105-105;") } },
    { "another message in the same microsecond, of another level",
      { LOG(100, AT("20") XID("3b", "79") LOW("20") XID("4c", "79"), true),
        SAYS("0000:3b:00.0 79 1 20-20;0000:4c:00.0 79 1 20-20;") } },
    { "another message in the same microsecond, of the same level, is not seen",
      { LOG(100, AT("20") XID("3b", "79") AT("20") XID("4c", "79"), true),
        SAYS("0000:3b:00.0 79 1 20-20;") } },

    /* who wrote it */
    { "what a process wrote",
      { LOG(100,
            "<12>[   20.000000] " XID("3b", "79") "<28>[   20.000000] " XID(
                "3b", "79") "<2047>[   20.000000] " XID("3b", "79"),
            false),
        SAYS("") } },
    { "a process that writes a whole line",
      { LOG(100,
            "<12>[   20.000000] <4>[   20.000000] " XID(
                "3b", "79") "<12>[   20.000000] x\n<12>[   20.000000] <4>" XID("3b", "79"),
            false),
        SAYS("") } },
    { "a process that repeats the last line hides nothing",
      { LOG(100, AT("20") FILLER, false),
        TAIL(110, AT("20") FILLER AT("105") XID("3b", "79") "<12>[   106.000000] " AT("20") FILLER,
             true),
        SAYS("0000:3b:00.0 79 1 105-105;") } },
    { "every level",
      { LOG(100, "<0>[   20.000000] " XID("3b", "79") "<7>[   20.000000] " XID("3b", "79"), true),
        SAYS("0000:3b:00.0 79 2 20-20;") } },
    { "lines without a prefix",
      { LOG(100, XID("3b", "79") "[   20.000000] " XID("3b", "79") "<>" XID("3b", "79"), false),
        SAYS("") } },
    { "a kernel that names who writes",
      { LOG(100,
            "<3>[   20.000000][ T1234] " XID("3b", "79") "<3>[   20.000000][   C12] " XID("3b",
                                                                                          "79"),
            true),
        SAYS("0000:3b:00.0 79 2 20-20;") } },

    /* times */
    { "a stamp that is ahead of the clock",
      { LOG(100, AT("200") XID("3b", "79"), true), SAYS("0000:3b:00.0 79 1 100-100;") } },
    { "a stamp that has fallen behind: it came since the last reading",
      { LOG(100, AT("20") FILLER, false), TAIL(110, AT("20") FILLER AT("50") XID("3b", "79"), true),
        SAYS("0000:3b:00.0 79 1 100-100;") } },

    /* after a start of the agent */
    { "what was reported is not counted again",
      { JOIN(100, "[" SAID("3b", "31", "2", T20, T30, BOOT_ID) "]"),
        LOG(100, AT("20") XID("3b", "31") AT("30") XID("3b", "31"), false),
        SAYS("0000:3b:00.0 31 2 20-30;") } },
    { "what the log has forgotten stays counted",
      { JOIN(100, "[" SAID("3b", "31", "7", T20, T30, BOOT_ID) "]"),
        LOG(100, AT("30") XID("3b", "31") AT("60") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 8 20-60;") } },
    { "a stamp that has moved a little is the same line",
      { JOIN(100, "[" SAID("3b", "31", "1", T20, T30, BOOT_ID) "]"),
        LOG(100, AT("34") XID("3b", "31"), false), SAYS("0000:3b:00.0 31 1 20-30;") } },
    { "and one that has moved more, after a long time",
      { JOIN(100, "[" SAID("3b", "31", "1", T20, T30, BOOT_ID) "]"),
        LOG(1000000, AT("200") XID("3b", "31"), false), SAYS("0000:3b:00.0 31 1 20-30;") } },
    { "more than was reported, if the log has more",
      { JOIN(100, "[" SAID("3b", "31", "1", T20, T30, BOOT_ID) "]"),
        LOG(100, AT("20") XID("3b", "31") AT("30") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 2 20-30;") } },
    { "later lines count on",
      { JOIN(100, "[" SAID("3b", "31", "7", T20, T30, BOOT_ID) "]"),
        LOG(100, AT("30") XID("3b", "31"), false),
        TAIL(110, AT("30") XID("3b", "31") AT("105") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 8 20-105;") } },
    { "a line after the first look is a new one, however early",
      { JOIN(32, "[" SAID("3b", "31", "7", T20, T30, BOOT_ID) "]"),
        LOG(32, AT("30") XID("3b", "31"), false),
        TAIL(34, AT("30") XID("3b", "31") AT("33") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 8 20-33;") } },
    { "a clock that was set forward: a log of the whole boot has all lines",
      { JOIN(100, "[" SAID("3b", "31", "2", YESTERDAY, YESTERDAY, BOOT_ID) "]"),
        LOG(100, AT("0") FILLER AT("20") XID("3b", "31") AT("30") XID("3b", "31"), false),
        SAYS("0000:3b:00.0 31 2 -86400--86400;") } },
    { "and the number of lines tells of more",
      { JOIN(100, "[" SAID("3b", "31", "2", YESTERDAY, YESTERDAY, BOOT_ID) "]"),
        LOG(100,
            AT("0") FILLER AT("20") XID("3b", "31") AT("30") XID("3b", "31") AT("40")
                XID("3b", "31"),
            true),
        SAYS("0000:3b:00.0 31 3 -86400-40;") } },
    { "set forward a little: a log that begins before the first has all lines",
      { JOIN(100, "[" SAID("3b", "31", "1", T20, T20, BOOT_ID) "]"),
        LOG(100, AT("15") FILLER AT("28") XID("3b", "31"), false),
        SAYS("0000:3b:00.0 31 1 20-20;") } },
    { "a log that begins later has not",
      { JOIN(100, "[" SAID("3b", "31", "1", T20, T20, BOOT_ID) "]"),
        LOG(100, AT("21") FILLER AT("28") XID("3b", "31"), true),
        SAYS("0000:3b:00.0 31 2 20-28;") } },
    { "an entry that is there twice",
      { JOIN(100, "[" SAID("3b", "31", "2", T20, T30, BOOT_ID) "," SAID(
                      "3b", "31", "5", T20, T30,
                      BOOT_ID) "," SAID("3b", "31", "3", T20, T30,
                                        EARLIER) "," SAID("3b", "31", "4", T20, T30, EARLIER) "]"),
        LOG(100, AT("20") FILLER, false),
        SAYS("0000:3b:00.0 31 2 20-30;0000:3b:00.0 31 3 20-30 earlier;") } },
    { "an earlier boot stays as it is",
      { JOIN(100, "[" SAID("3b", "79", "3", YESTERDAY, YESTERDAY, EARLIER) "]"),
        LOG(100, AT("20") XID("3b", "79"), true),
        SAYS("0000:3b:00.0 79 3 -86400--86400 earlier;0000:3b:00.0 79 1 20-20;") } },
    { "what the driver says is kept, and the last word counts",
      { JOIN(100, "[{'address':'0000:3b:00.0','xid':154,'count':1,'recovery':'Reset','first':'" T20
                  "','last':'" T20 "','bootId':'" BOOT_ID "'}]"),
        LOG(100, AT("20") FILLER, false), SAYS("0000:3b:00.0 154 1 Reset 20-20;"),
        TAIL(110,
             AT("20") FILLER AT("105") "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action "
                                       "changed from 0x1 (x) to 0x2 (y)\n",
             true),
        SAYS("0000:3b:00.0 154 2 Reboot 20-105;") } },
    { "fatal once is fatal",
      { LOG(100,
            AT("20") "NVRM: Xid (PCI:0018:01:00): 149, A Fatal XC0 i0 Link 08 (0x1)\n" AT(
                "21") "NVRM: Xid (PCI:0018:01:00): 149, A Nonfatal XC0 i0 Link 08 (0x1)\n",
            true),
        SAYS("0018:01:00.0 149 2 fatal 20-21;") } },
    { "a time in the future is now",
      { JOIN(100, "[" SAID("3b", "31", "1", T20, "2033-11-14T22:13:40Z", BOOT_ID) "]"),
        LOG(100, AT("30") FILLER, false), SAYS("0000:3b:00.0 31 1 20-100;") } },
    { "a count stops where the schema ends",
      { JOIN(100, "[" SAID("3b", "31", "2147483647", T20, T30, BOOT_ID) "]"),
        LOG(100, AT("60") XID("3b", "31"), false), SAYS("0000:3b:00.0 31 2147483647 20-60;") } },
    { "a time of an earlier boot stays, though the clock is behind it",
      { JOIN(100, "[" SAID("3b", "31", "1", "2033-11-14T22:13:40Z", "2033-11-14T22:13:50Z",
                           EARLIER) "]"),
        LOG(100, AT("30") FILLER, false),
        SAYS("0000:3b:00.0 31 1 315619220-315619230 earlier;") } },
};

static struct log_time time_at(int s)
{
    return (struct log_time){ ((int64_t) BOOTED_S + s) * US, (int64_t) s * US };
}

static void add_fault(const json_t *fault, struct buf *ret)
{
    const json_t *fatal = json_at(fault, "fatal");
    const char *recovery = json_str(fault, "recovery");
    buf_printf(ret, "%s %d %d", json_str(fault, "address"), (int) json_int(fault, "xid", -1),
               (int) json_int(fault, "count", -1));
    if (fatal)
        buf_printf(ret, " %s", json_is_true(fatal) ? "fatal" : "not fatal");
    if (recovery)
        buf_printf(ret, " %s", recovery);
    buf_printf(ret, " %d-%d%s;",
               (int) (clock_parse_rfc3339(json_str(fault, "first")) / US - BOOTED_S),
               (int) (clock_parse_rfc3339(json_str(fault, "last")) / US - BOOTED_S),
               str_eq(json_str(fault, "bootId"), EARLIER) ? " earlier" : "");
}

static void expect(const struct faults *f, const char *want)
{
    static const struct pci_bus bus;
    CLEANUP_BUF struct buf got = BUF_INIT(TEXT_MAX);
    CLEANUP_JSON json_t *faults = faults_json(f, &bus, BOOT_ID);
    assert_true(json_is_array(faults));
    JSON_EACH (fault, faults)
        add_fault(fault, &got);
    assert_string_equal(buf_text(&got), want);
}

static void take(struct faults *f, const struct step *step)
{
    bool news = !step->news;
    assert_int_equal(
        faults_take(f, part_of(step->text), step->kind == LOG, time_at(step->s), &news),
        step->kind != LOST);
    assert_int_equal(news, step->news);
}

static void join(struct faults *f, const struct step *step)
{
    CLEANUP_JSON json_t *said = tree(step->text);
    faults_join(f, said, BOOT_ID, BOOTED_S + step->s);
    assert_true(f->joined);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct faults f = { 0 };
    for (const struct step *step = row->steps; step < row->steps + STEPS_MAX && step->kind; step++)
        if (step->kind == JOIN)
            join(&f, step);
        else if (step->kind == SAYS)
            expect(&f, step->text);
        else
            take(&f, step);
}

#define WITH(xid, fields)                                                                          \
    "{'address':'0000:3b:00.0','xid':" xid ",'count':1,'first':'" T20 "','last':'" T20             \
    "','bootId':'" BOOT_ID "'," fields "}"

/* Any client may have written into a GpuNode: entries that no agent writes are left out. */
static const struct wrong_row {
    const char *name, *said;
} wrongs[] = {
    { "wrong: a number", "1" },
    { "wrong: nothing in it", "{}" },
    { "wrong: an address", SAID("xx", "1", "1", T20, T20, BOOT_ID) },
    { "wrong: an Xid below 0", SAID("3b", "-1", "1", T20, T20, BOOT_ID) },
    { "wrong: an Xid that is too large", SAID("3b", "65536", "1", T20, T20, BOOT_ID) },
    { "wrong: no count", SAID("3b", "1", "0", T20, T20, BOOT_ID) },
    { "wrong: a count that is too large", SAID("3b", "1", "2147483648", T20, T20, BOOT_ID) },
    { "wrong: no first time", SAID("3b", "1", "1", "x", T20, BOOT_ID) },
    { "wrong: no last time", SAID("3b", "1", "1", T20, "x", BOOT_ID) },
    { "wrong: no boot", SAID("3b", "1", "1", T20, T20, "") },
    { "wrong: a last time before the first", SAID("3b", "1", "1", T30, T20, BOOT_ID) },
    { "wrong: a recovery action of another Xid", WITH("79", "'recovery':'Reset'") },
    { "wrong: another Xid that is fatal", WITH("154", "'fatal':true") },
    { "wrong: another Xid that is not fatal", WITH("143", "'fatal':false") },
    { "wrong: a recovery action of a switch", WITH("154", "'recovery':'Reset','nvswitch':true") },
    { "wrong: a switch with a fatal link", WITH("149", "'fatal':true,'nvswitch':true") },
    { "wrong: a boot that is too long", SAID("3b", "1", "1", T20, T20, BOOT_ID BOOT_ID) },
};

static void check_wrong(void **state)
{
    const struct wrong_row *row = *state;
    struct faults f;
    CLEANUP_FREE char *text = xasprintf("[%s]", row->said);
    CLEANUP_JSON json_t *said = tree(text);
    faults_join(&f, said, BOOT_ID, BOOTED_S + 100);
    assert_int_equal(f.len, 0);
    assert_true(f.joined);
}

/* ---- a full list */

/* The fault of the nth GPU, a second after the one before. */
static void add_line(struct buf *log, int n, int xid)
{
    buf_printf(log, "<4>[%5d.000000] NVRM: Xid (PCI:%04x:3b:00): %d, x\n", n, n, xid);
}

static const struct logged_fault *fault_of(const struct faults *f, unsigned domain, bool earlier)
{
    for (size_t i = 0; i < f->len; i++)
        if (f->items[i].event.place.domain == domain && !*f->items[i].boot == !earlier)
            return &f->items[i];
    return NULL;
}

static void take_xids(struct faults *f, int from, int to, int xid)
{
    CLEANUP_BUF struct buf log = BUF_INIT(TEXT_MAX);
    bool news;
    for (int i = from; i < to; i++)
        add_line(&log, i, xid);
    assert_true(faults_take(f, part_of_buf(&log), true, time_at(to), &news));
}

static void check_full(void **state)
{
    (void) state;
    struct faults f = { 0 };
    take_xids(&f, 0, FAULTS_MAX + 3, 79);
    assert_int_equal(f.len, FAULTS_MAX);
    for (int i = 0; i < FAULTS_MAX + 3; i++)
        assert_int_equal(fault_of(&f, (unsigned) i, false) != NULL, i >= 3);
}

/* Programs can cause some faults themselves, on as many GPUs as they have. */
static void check_full_of_programs(void **state)
{
    (void) state;
    struct faults f = { 0 };
    take_xids(&f, 0, 2, 79);
    take_xids(&f, 2, 2 + 2 * FAULTS_MAX, 31);
    assert_int_equal(f.len, FAULTS_MAX);
    assert_non_null(fault_of(&f, 0, false));
    assert_non_null(fault_of(&f, 1, false));
    assert_non_null(fault_of(&f, 1 + 2 * FAULTS_MAX, false));
    take_xids(&f, 100, 100 + FAULTS_MAX - 2, 48);
    take_xids(&f, 200, 201, 31);
    assert_null(fault_of(&f, 200, false));
    take_xids(&f, 300, 301, 48);
    assert_non_null(fault_of(&f, 300, false));
    assert_null(fault_of(&f, 0, false));
}

/* On eight GPUs, numbers that a program causes have more entries than there is room for. */
static void check_full_of_mild(void **state)
{
    (void) state;
    static const int mild[] = { 11, 25, 39, 40, 41, 126 };
    struct faults f = { 0 };
    CLEANUP_BUF struct buf log = BUF_INIT(TEXT_MAX);
    bool news;
    add_line(&log, 0, 79);
    for (size_t i = 0; i < ARRAY_LEN(mild); i++)
        for (int gpu = 1; gpu <= 8; gpu++)
            buf_printf(&log, "<4>[%5zu.%06d] NVRM: Xid (PCI:%04x:3b:00): %d, x\n", i + 1, gpu, gpu,
                       mild[i]);
    assert_true(faults_take(&f, part_of_buf(&log), true, time_at(100), &news));
    assert_int_equal(f.len, FAULTS_MAX);
    assert_non_null(fault_of(&f, 0, false));
}

static void check_full_of_earlier_boots(void **state)
{
    (void) state;
    struct faults f;
    CLEANUP_JSON json_t *said = json_array();
    for (int i = 0; i < FAULTS_MAX + 1; i++)
        json_array_append_new(said,
                              json_pack("{s:o, s:i, s:i, s:s, s:s, s:s}", "address",
                                        json_textf("%04x:3b:00.0", i), "xid", 79, "count", 1,
                                        "first", YESTERDAY, "last", YESTERDAY, "bootId", EARLIER));
    faults_join(&f, said, BOOT_ID, BOOTED_S);
    assert_int_equal(f.len, FAULTS_MAX);
    assert_null(fault_of(&f, 0, true));
    take_xids(&f, 0, 2, 31);
    assert_int_equal(f.len, FAULTS_MAX);
    assert_null(fault_of(&f, 1, true));
    assert_null(fault_of(&f, 2, true));
    assert_non_null(fault_of(&f, 3, true));
    assert_non_null(fault_of(&f, 0, false));
    assert_non_null(fault_of(&f, 1, false));
}

/* ---- reading */

struct file {
    char path[32];
    FILE *f;
};

static void file_begin(struct file *file)
{
    strcpy(file->path, "/tmp/test-faults-XXXXXX");
    file->f = fdopen(mkstemp(file->path), "w");
    assert_non_null(file->f);
}

static void file_end(struct file *file)
{
    fclose(file->f);
    unlink(file->path);
}

/* A log that is larger than what is read of it: only its end is, in whole lines. What is new is
 * found however much came meanwhile. */
static void check_long(void **state)
{
    (void) state;
    struct faults f = { 0 };
    struct file file;
    int n = 0;
    file_begin(&file);
    fputs("<4>[    0.000000] " XID("3b", "48"), file.f);
    static const int more[] = { 40000, 1, 500, 5000, 40000 };
    for (size_t i = 0; i < ARRAY_LEN(more); i++) {
        for (int end = n + more[i]; n < end; n++)
            fprintf(file.f, "<6>[%5d.%06d] usb 1-1: new device, number %d\n", 1 + n / 1000,
                    n % 1000, n);
        fprintf(file.f, "<4>[%5d.%06d] " XID("3b", "31"), 1 + n / 1000, n % 1000);
        n++;
        fflush(file.f);
        assert_true(faults_read(&f, file.path, time_at(1000 + (int) i)));
        assert_false(faults_read(&f, file.path, time_at(1000 + (int) i)));
        assert_int_equal(f.len, 1);
        assert_int_equal(f.items[0].event.xid, 31);
        assert_int_equal(f.items[0].count, i + 1);
    }
    file_end(&file);
}

static void check_unreadable(void **state)
{
    (void) state;
    struct faults f = { 0 };
    struct file file;
    assert_true(faults_read(&f, "/nowhere/log", time_at(1)));
    assert_int_equal(f.why, ENOENT);
    assert_false(faults_read(&f, "/nowhere/log", time_at(2)));
    assert_true(faults_read(&f, "/dev/zero", time_at(3)));
    assert_int_equal(f.why, EINVAL);
    file_begin(&file);
    fputs(AT("1") XID("3b", "79"), file.f);
    fflush(file.f);
    assert_true(faults_read(&f, file.path, time_at(4)));
    assert_int_equal(f.why, 0);
    assert_int_equal(f.len, 1);
    assert_true(faults_read(&f, "/nowhere/log", time_at(5)));
    assert_int_equal(f.len, 1);
    file_end(&file);
}

static void write_log(struct file *file, const char *text)
{
    rewind(file->f);
    assert_int_equal(ftruncate(fileno(file->f), 0), 0);
    fputs(text, file->f);
    fflush(file->f);
}

/* Without time stamps nothing tells a message from a line that a program begins within another. */
static const struct stamp_row {
    const char *name, *text;
    bool readable;
} stamps[] = {
    { "stamps: none", "<3>" XID("3b", "79"), false },
    { "stamps: none, in a kernel that names who writes", "<3>[ T1234] " XID("3b", "79"), false },
    { "stamps: a program writes some", "<3>x\n<3>[   20.000000] " XID("3b", "79"), false },
    { "stamps: a program writes some, first in the log", "<3>[   20.000000] x\n<3>x\n", false },
    { "stamps: a process has none", "<12>x\n" AT("20") XID("3b", "79"), false },
    { "stamps: each line has one", AT("20") XID("3b", "79"), true },
    { "stamps: nothing is in the log", "", true },
};

static void check_stamps(void **state)
{
    const struct stamp_row *row = *state;
    struct faults f = { 0 };
    struct file file;
    file_begin(&file);
    write_log(&file, row->text);
    faults_read(&f, file.path, time_at(100));
    assert_int_equal(f.why, row->readable ? 0 : NO_STAMPS);
    assert_int_equal(f.len, row->readable && *row->text);
    file_end(&file);
}

/* They are turned off for a while: nothing counts then, and nothing counts twice. */
static void check_stamps_turned_off(void **state)
{
    (void) state;
    struct faults f = { 0 };
    struct file file;
    file_begin(&file);
    write_log(&file, AT("20") XID("3b", "79"));
    assert_true(faults_read(&f, file.path, time_at(100)));
    write_log(&file, "<4>" XID("3b", "79") "<4>" XID("3b", "79"));
    assert_true(faults_read(&f, file.path, time_at(110)));
    assert_int_equal(f.why, NO_STAMPS);
    assert_false(faults_read(&f, file.path, time_at(120)));
    write_log(&file, AT("20") XID("3b", "79") AT("105") XID("3b", "79"));
    assert_true(faults_read(&f, file.path, time_at(130)));
    expect(&f, "0000:3b:00.0 79 2 20-105;");
    file_end(&file);
}

/* The kernel's own log: it can be read, or that is not permitted. */
static void check_kernel(void **state)
{
    (void) state;
    CLEANUP_KERNEL_LOG struct kernel_log log = { 0 };
    struct kernel_log_line line = { 0 };
    int why = kernel_log_read("", KERNEL_LOG_MAX, &log);
    if (why) {
        assert_true(why == EPERM || why == ENOSYS || why == EACCES);
        return;
    }
    struct part text = { log.at, log.len };
    while (kernel_log_next(&text, &line))
        assert_true(line.whole.len > 2 && line.whole.at[0] == '<');
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_wrong, wrongs);
    suite_add(&s, "a full list loses its oldest", check_full, NULL);
    suite_add(&s, "what programs cause pushes out nothing else", check_full_of_programs, NULL);
    suite_add(&s, "nor do others that ask for nothing", check_full_of_mild, NULL);
    suite_add(&s, "earlier boots make room first", check_full_of_earlier_boots, NULL);
    suite_add(&s, "a long log", check_long, NULL);
    suite_add(&s, "a log that cannot be read", check_unreadable, NULL);
    SUITE_ROWS(&s, check_stamps, stamps);
    suite_add(&s, "time stamps that are turned off", check_stamps_turned_off, NULL);
    suite_add(&s, "the kernel's own log", check_kernel, NULL);
    return suite_run(&s, "faults");
}
