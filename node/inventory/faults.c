#include "node/inventory/faults.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/xid_mild.h"
#include "node/inventory/kernel_log.h"

enum { US = 1000 * 1000 };
/* Time stamps of the log run by another clock than the wall time. So the same line seems to move,
 * by this much and by one part in LINE_DRIFT of its age. */
enum { LINE_SLACK_S = 5, LINE_DRIFT = 5000 };

/* ---- the list */

static bool is_same_place(const struct xid_place *a, const struct xid_place *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
           (a->function < 0 || b->function < 0 || a->function == b->function);
}

/* The entry of an event and a boot. */
static struct logged_fault *faults_find(struct faults *f, const struct xid_event *e,
                                        const char *boot)
{
    for (size_t i = 0; i < f->len; i++) {
        const struct xid_event *there = &f->items[i].event;
        if (str_eq(f->items[i].boot, boot) && there->xid == e->xid &&
            there->nvswitch == e->nvswitch && is_same_place(&there->place, &e->place))
            return &f->items[i];
    }
    return NULL;
}

/* The smaller, the sooner it makes room for others. Programs cause mild faults as often as they
 * like: these must not push out others. */
static int worth(const struct logged_fault *fault)
{
    bool mild = !fault->event.nvswitch && xid_is_mild(fault->event.xid);
    return *fault->boot ? 0 : mild ? 1 : 2;
}

static void faults_remove(struct faults *f, size_t i)
{
    f->len--;
    memmove(&f->items[i], &f->items[i + 1], (f->len - i) * sizeof f->items[0]);
}

/* Makes room for a fault; false: all others are worth more. */
static bool make_room(struct faults *f, const struct logged_fault *coming)
{
    size_t least = 0;
    if (f->len < FAULTS_MAX)
        return true;
    for (size_t i = 1; i < f->len; i++)
        if (worth(&f->items[i]) < worth(&f->items[least]))
            least = i;
    if (worth(&f->items[least]) > worth(coming))
        return false;
    faults_remove(f, least);
    return true;
}

/* Inserts a copy behind all that are not newer. */
static void faults_insert(struct faults *f, const struct logged_fault *fault)
{
    struct logged_fault copy = *fault;
    size_t i = f->len++;
    for (; i > 0 && f->items[i - 1].last_s > copy.last_s; i--)
        f->items[i] = f->items[i - 1];
    f->items[i] = copy;
}

bool faults_add(struct faults *f, const struct logged_fault *fault)
{
    if (faults_find(f, &fault->event, fault->boot) || !make_room(f, fault))
        return false;
    faults_insert(f, fault);
    return true;
}

/* ---- counting */

/* A fault of a line, and when it happened. */
struct happening {
    struct xid_event event;
    int64_t at_s;
    int64_t now_s;
    bool first_read; /* the log is read for the first time */
    int64_t begin_s; /* since then the log is complete; INT64_MIN: since the boot */
};

/* Whether the line may be one of those that were reported when the agent started. If the log still
 * has all lines of the fault, each may be: their number says whether there are more. */
static bool is_known(const struct logged_fault *fault, const struct happening *h)
{
    int64_t slack_s = LINE_SLACK_S + (h->now_s - h->at_s) / LINE_DRIFT;
    return h->first_read && fault->said &&
           (h->begin_s < fault->first_s || h->at_s <= fault->said_s + slack_s);
}

/* Whether the line is one more. */
static bool count_up(struct logged_fault *fault, const struct happening *h)
{
    uint32_t before = fault->count;
    bool known = is_known(fault, h);
    if (known)
        fault->known++;
    else
        fault->fresh++;
    uint32_t old = fault->said > fault->known ? fault->said : fault->known;
    if (__builtin_add_overflow(old, fault->fresh, &fault->count) || fault->count > INT32_MAX)
        fault->count = INT32_MAX;
    return !known || fault->count > before;
}

/* What the last line says counts, but fatal once is fatal. */
static void take_words(struct xid_event *event, const struct xid_event *said)
{
    if (said->recovery != RECOVERY_UNKNOWN)
        event->recovery = said->recovery;
    if (said->fatal > event->fatal)
        event->fatal = said->fatal;
}

static void take_happening(struct faults *f, const struct happening *h)
{
    struct logged_fault first = { .event = h->event, .first_s = h->at_s, .last_s = h->at_s };
    struct logged_fault *there = faults_find(f, &h->event, "");
    if (!there) {
        count_up(&first, h);
        faults_add(f, &first);
        return;
    }
    take_words(&there->event, &h->event);
    if (!count_up(there, h))
        return;
    struct logged_fault moved = *there;
    if (h->at_s > moved.last_s)
        moved.last_s = h->at_s;
    faults_remove(f, (size_t) (there - f->items));
    faults_insert(f, &moved);
}

/* Changes with any fault and any count, but not with times and order. */
static uint64_t sum_of(const struct faults *f)
{
    uint64_t sum = f->len;
    for (size_t i = 0; i < f->len; i++) {
        const struct xid_event *e = &f->items[i].event;
        const uint64_t words[] = { e->place.domain, e->place.bus,      e->place.device,
                                   e->xid,          e->nvswitch,       e->fatal,
                                   e->recovery,     f->items[i].count, *f->items[i].boot != 0 };
        sum += str_hash(words, sizeof words);
    }
    return sum;
}

/* ---- what is new in a log */

static uint64_t line_hash(struct part whole)
{
    return str_hash(whole.at, whole.len);
}

/* Cuts off what was read before. Lines with the same text and time stamp are told apart by their
 * number. */
static bool skip_read(const struct log_place *place, struct part *text)
{
    struct part rest = *text;
    struct kernel_log_line line = { 0 };
    uint32_t seen = 0;
    while (seen < place->seen && kernel_log_next(&rest, &line)) {
        if (line_hash(line.whole) != place->line)
            continue;
        seen++;
        *text = rest;
    }
    return seen > 0;
}

static void keep_place(struct log_place *place, struct part text)
{
    struct kernel_log_line line = { 0 }, last = { 0 };
    struct part rest = text;
    while (kernel_log_next(&rest, &line))
        last = line;
    if (!last.whole.len)
        return;
    *place = (struct log_place){ true, line_hash(last.whole), 0, last.stamp_us };
    while (kernel_log_next(&text, &line))
        place->seen += line_hash(line.whole) == place->line;
}

/* Derived from the stamp, but not outside of the time since the last reading. */
static int64_t line_time_s(const struct faults *f, const struct log_time *now, int64_t stamp_us,
                           bool since_read)
{
    int64_t now_s = now->wall_us / US, at_s = (now->wall_us - (now->boot_us - stamp_us)) / US;
    if (since_read && at_s < f->read_s)
        at_s = f->read_s;
    return at_s < 0 ? 0 : at_s > now_s ? now_s : at_s;
}

/* The time from which on the log is complete. */
static int64_t begin_s(const struct faults *f, const struct log_time *now, struct part text)
{
    struct kernel_log_line line = { 0 };
    if (!kernel_log_next(&text, &line))
        return INT64_MAX;
    return line.stamp_us < US ? INT64_MIN : line_time_s(f, now, line.stamp_us, false);
}

struct reading {
    struct log_time now;
    bool since_read;  /* all lines came after the last reading */
    int64_t after_us; /* lines up to this stamp were read before; -1: none was */
};

static void take_lines(struct faults *f, struct part text, const struct reading *r)
{
    struct kernel_log_line line = { 0 };
    struct xid_reader reader = { 0 };
    struct happening h = { .now_s = r->now.wall_us / US,
                           .first_read = f->read_s == 0,
                           .begin_s = begin_s(f, &r->now, text) };
    while (kernel_log_next(&text, &line)) {
        if (!line.by_kernel || (r->after_us >= 0 && line.stamp_us <= r->after_us) ||
            !xid_line_take(&reader, line.text, line.continues, &h.event))
            continue;
        h.at_s = line_time_s(f, &r->now, line.stamp_us, r->since_read);
        take_happening(f, &h);
    }
}

bool faults_take(struct faults *f, struct part text, bool whole, struct log_time now,
                 bool *ret_news)
{
    struct part fresh = text;
    struct reading r = { .now = now, .after_us = -1 };
    *ret_news = false;
    if (f->place.any) {
        r.since_read = skip_read(&f->place, &fresh);
        if (!r.since_read)
            r.after_us = f->place.stamp_us;
    }
    if (!whole && !r.since_read)
        return false;
    r.since_read |= r.after_us >= 0;
    uint64_t before = sum_of(f);
    take_lines(f, fresh, &r);
    *ret_news = sum_of(f) != before;
    keep_place(&f->place, text);
    f->read_s = now.wall_us / US;
    return true;
}

/* ---- reading */

struct log_time log_time_now(void)
{
    struct timespec wall, boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    /* Like the log's stamps, this clock stands still while the machine is suspended. */
    clock_gettime(CLOCK_MONOTONIC, &boot);
    return (struct log_time){ (int64_t) wall.tv_sec * US + wall.tv_nsec / 1000,
                              (int64_t) boot.tv_sec * US + boot.tv_nsec / 1000 };
}

bool faults_read(struct faults *f, const char *file, struct log_time now)
{
    /* The end of the log has all that is new, unless much was written. */
    static const size_t first[] = { KERNEL_LOG_MAX }, later[] = { 16 * 1024, KERNEL_LOG_AGENT_MAX };
    const size_t *sizes = f->place.any ? later : first,
                 count = f->place.any ? ARRAY_LEN(later) : ARRAY_LEN(first);
    int why = 0, before = f->why;
    bool news = false, taken = false;
    for (size_t i = 0; !taken && !why && i < count; i++) {
        CLEANUP_KERNEL_LOG struct kernel_log log = { 0 };
        why = kernel_log_read(file, sizes[i], &log);
        const struct part text = { log.at, log.len };
        if (!why && !kernel_log_has_stamps(text))
            why = NO_STAMPS;
        if (!why)
            taken = faults_take(f, text, i + 1 == count, now, &news);
    }
    f->why = why;
    return news || why != before;
}
