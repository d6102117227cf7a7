#include "node/inventory/xid_line.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
    XID_NVLINK_FIRST = 144,
    XID_NVLINK_LAST = 150,
    DOMAIN_DIGITS = 8,
    NUMBER_DIGITS = 9,
};

/* ---- numbers; each function cuts off what it takes */

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At least `least` and at most `most` digits, and no further one. */
static bool take_digits(struct part *p, int base, size_t least, size_t most, uint32_t *ret)
{
    size_t len = 0;
    uint64_t value = 0;
    while (len < p->len && digit_of(p->at[len]) >= 0 && digit_of(p->at[len]) < base) {
        if (len == most)
            return false;
        value = value * (unsigned) base + (unsigned) digit_of(p->at[len++]);
    }
    *p = part_from(*p, p->at + len);
    *ret = (uint32_t) value;
    return len >= least;
}

static bool take_decimal(struct part *p, uint32_t *ret)
{
    return take_digits(p, 10, 1, NUMBER_DIGITS, ret);
}

/* "0000:3b:00". */
static bool take_place(struct part *p, struct xid_place *ret)
{
    uint32_t bus, device;
    if (!take_digits(p, 16, 4, DOMAIN_DIGITS, &ret->domain) || !part_skip(p, ":") ||
        !take_digits(p, 16, 2, 2, &bus) || !part_skip(p, ":") || !take_digits(p, 16, 2, 2, &device))
        return false;
    ret->bus = (uint8_t) bus;
    ret->device = (uint8_t) device;
    ret->function = -1;
    return true;
}

static bool take_function(struct part *p, struct xid_place *ret)
{
    uint32_t function;
    if (!part_skip(p, ".") || !take_digits(p, 16, 1, 1, &function) || function > 7)
        return false;
    ret->function = (int8_t) function;
    return true;
}

/* "): 79, ". */
static bool take_number(struct part *p, uint16_t *ret)
{
    uint32_t number;
    if (!part_skip(p, "): ") || !take_decimal(p, &number) || !part_skip(p, ",") ||
        number > UINT16_MAX)
        return false;
    *ret = (uint16_t) number;
    return true;
}

/* ---- what the driver writes after the name of a process */

/* The rest of `text` after the last occurrence of a text: the driver's own words come last. */
static bool skip_past_last(struct part *text, const char *mark)
{
    bool found = false;
    for (const char *at; (at = part_find(*text, mark)); found = true)
        *text = part_from(*text, at + strlen(mark));
    return found;
}

/* "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)". */
static enum gpu_recovery recovery_in(struct part text)
{
    uint32_t from, to;
    if (!skip_past_last(&text, "GPU recovery action changed from 0x") ||
        !take_digits(&text, 16, 1, DOMAIN_DIGITS, &from) || !part_skip(&text, " (") ||
        !part_find(text, ") to 0x"))
        return RECOVERY_UNKNOWN;
    text = part_from(text, part_find(text, ") to 0x"));
    return part_skip(&text, ") to 0x") && take_digits(&text, 16, 1, DOMAIN_DIGITS, &to) &&
                   to < RECOVERIES - RECOVERY_NONE
               ? (enum gpu_recovery)(to + RECOVERY_NONE)
               : RECOVERY_UNKNOWN;
}

/* "XC0" or, before driver 575, "XC 1". */
static bool take_tagged(struct part *p, const char *tag)
{
    uint32_t number;
    *p = part_trimmed(*p);
    if (!part_skip(p, tag))
        return false;
    *p = part_trimmed(*p);
    return take_decimal(p, &number);
}

/* Whether this follows the word Fatal or Nonfatal: "XC0 i0 Link 08 (0x…", "XC 1 i 2 Link -1". */
static bool is_of_link(struct part p)
{
    if (!take_tagged(&p, "XC") || !take_tagged(&p, "i"))
        return false;
    p = part_trimmed(p);
    return part_skip(&p, "Link ");
}

/* "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 …)"; the last such text counts. */
static enum xid_fatal fatal_in(struct part text)
{
    enum xid_fatal fatal = XID_FATAL_UNKNOWN;
    struct part word;
    while (part_word(&text, &word)) {
        bool is_fatal = part_is(word, "Fatal");
        if ((is_fatal || part_is(word, "Nonfatal")) && is_of_link(text))
            fatal = is_fatal ? XID_FATAL : XID_NONFATAL;
    }
    return fatal;
}

static bool has_recovery(const struct xid_event *e)
{
    return !e->nvswitch && e->xid == XID_RECOVERY_CHANGED;
}

static bool may_be_fatal(const struct xid_event *e)
{
    return !e->nvswitch && e->xid >= XID_NVLINK_FIRST && e->xid <= XID_NVLINK_LAST;
}

bool xid_event_is_possible(const struct xid_event *e)
{
    return (e->recovery == RECOVERY_UNKNOWN || has_recovery(e)) &&
           (e->fatal == XID_FATAL_UNKNOWN || may_be_fatal(e));
}

/* ---- lines */

/* "PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 94, …". */
static bool take_xid(struct part p, struct xid_event *ret)
{
    uint32_t instance;
    part_skip(&p, "PCI:"); /* very old drivers write none */
    if (!take_place(&p, &ret->place) ||
        (part_skip(&p, " GPU-I:") && !take_decimal(&p, &instance)) ||
        (part_skip(&p, " GPU-CI:") && !take_decimal(&p, &instance)) || !take_number(&p, &ret->xid))
        return false;
    if (has_recovery(ret))
        ret->recovery = recovery_in(p);
    if (may_be_fatal(ret))
        ret->fatal = fatal_in(p);
    return true;
}

/* "0: SXid (PCI:0000:85:00.0): 12028, …". Two or three more lines with the same number, which
 * describe the fault, are not further faults. No process has a name here. */
static bool take_sxid(struct part p, struct xid_event *ret)
{
    uint32_t number;
    ret->nvswitch = true;
    return take_decimal(&p, &number) && part_skip(&p, ": SXid (PCI:") &&
           take_place(&p, &ret->place) && take_function(&p, &ret->place) &&
           take_number(&p, &ret->xid) && !part_begins(p, " Severity ") &&
           !part_begins(p, " Data {");
}

/* The message about a GPU that does not answer when the driver starts has three lines, and no Xid.
 * Its first line has the address. */
static void begin_silent(struct xid_reader *r, struct part line)
{
    r->is_silent = part_skip(&line, "NVRM: The NVIDIA GPU ") && take_place(&line, &r->silent) &&
                   take_function(&line, &r->silent) && line.len == 0;
}

/* Its last line. It counts as that of a GPU that has fallen off the bus. */
static bool end_silent(struct xid_reader *r, struct part line, struct xid_event *ret)
{
    if (!r->is_silent ||
        !part_begins(line, "NVRM: fallen off the bus and is not responding to commands"))
        return false;
    r->is_silent = false;
    ret->place = r->silent;
    ret->xid = XID_OFF_BUS;
    return true;
}

bool xid_line_take(struct xid_reader *r, struct part line, bool continues, struct xid_event *ret)
{
    *ret = (struct xid_event){ 0 };
    if (continues)
        return end_silent(r, line, ret);
    begin_silent(r, line);
    if (part_skip(&line, "NVRM: Xid ("))
        return take_xid(line, ret);
    return part_skip(&line, "nvidia-nvswitch") && take_sxid(line, ret);
}
