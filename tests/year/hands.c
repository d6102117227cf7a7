/* Who acts on a node beside Ostler: a person, and the peers' controllers as small state machines of
 * the same steps. */
#include "base/json.h"
#include "kube/object.h"
#include "base/str.h"
#include "tests/year/year.h"

#define USER "hands"

enum {
    WORK_H = 4,       /* a person's reaction, in working hours */
    PATIENCE_H = 4,   /* so long a person lets jobs go on */
    UNNOTICED_H = 24, /* what is reported by no rule is noticed by its users */
    PART_H = 72,      /* until another GPU is there */
    /* NVSentinel: DCGM is asked every 15 s, the log every 30 s; jobs end by themselves
     * (charts/node-drainer/values.yaml: AllowCompletion). EKS: repair after 10 min. */
    NVSENTINEL_MS = 30 * 1000,
    EKS_MS = 10 * 60 * 1000,
    MINUTE_MS = 60 * 1000,
};

/* The time after so many working hours: Monday to Friday, 9 to 17 h. */
static int64_t hands_after_work(const struct sim *s, int64_t work_ms)
{
    int64_t at = s->now_ms;
    while (work_ms > 0) {
        int64_t minutes = sim_wall_us(s, at) / 60000000, hour = minutes / 60 % 24,
                day = (minutes / 1440 + 4) % 7; /* 0: Sunday; the epoch began on a Thursday */
        if (day >= 1 && day <= 5 && hour >= 9 && hour < 17)
            work_ms -= MINUTE_MS;
        at += MINUTE_MS;
    }
    return at;
}

static void set_cordon(struct place *p, bool on)
{
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:o}}", "spec", "unschedulable",
                                           on ? json_true() : json_null());
    api_merge(p->fleet->api, USER, kind_named("nodes"), NULL, p->name, "", patch, NULL);
    p->hands.cordoned = on;
}

static void call_person(struct place *p, enum reply act)
{
    p->hands.step = HANDS_COMING;
    p->hands.at_ms = hands_after_work(&p->fleet->sim, WORK_H * HOUR_MS);
    p->hands.drain_ms = PATIENCE_H * HOUR_MS;
    p->hands.act = act;
    p->hands.person = true;
}

void hands_fault(struct place *p, const struct year_kind *k)
{
    enum way way = p->fleet->options.way;
    enum reply act = way == WAY_NVSENTINEL ? k->nvsentinel : way == WAY_EKS ? k->eks : 0;
    if (act == REPLY_NOTHING || (p->hands.step != HANDS_IDLE && !p->hands.person))
        return;
    p->hands.step = HANDS_COMING;
    p->hands.act = act;
    p->hands.person = false;
    p->hands.at_ms = p->fleet->sim.now_ms + (way == WAY_EKS ? EKS_MS : NVSENTINEL_MS);
    p->hands.drain_ms = way == WAY_EKS ? 0 : -1;
}

/* Whether a person has to see to the node. */
static bool needs_person(const struct place *p)
{
    const struct fleet *f = p->fleet;
    const json_t *health = json_at(api_get(f->api, kind_named("gpunodes"), NULL, p->name),
                                   "status.health");
    const char *level = json_str_or_empty(health, "level");
    bool unnoticed = f->sim.now_ms - p->since_ms > UNNOTICED_H * HOUR_MS &&
                     (p->trouble_count > 0 || p->given < GPUS);
    bool reported = str_eq(level, "Close") || str_eq(level, "Reboot") || str_eq(level, "Human") ||
                    (*level && p->machine.up && p->machine.module && p->machine.withheld > 0);
    if (f->options.way == WAY_OBSERVE || f->options.way == WAY_CLOSE)
        return reported || unnoticed;
    if (f->options.way == WAY_REPAIR)
        return str_eq(json_str_or_empty(health, "state"), "Human") || unnoticed;
    return unnoticed;
}

static void act(struct place *p)
{
    struct hands *h = &p->hands;
    h->boots = p->machine.boots;
    h->step = HANDS_BOOTING;
    p->fleet->sums.persons += h->person;
    if (h->act == REPLY_REBOOT) {
        place_do(p, SPEC_REBOOT);
    } else if (h->act == REPLY_REPLACE && !h->person) {
        place_do(p, SPEC_GPU_REPLACE);
    } else if (h->act == REPLY_REPLACE) {
        place_do(p, SPEC_NODE_DOWN);
        h->step = HANDS_AWAY;
        h->at_ms = p->fleet->sim.now_ms + PART_H * HOUR_MS;
    } else {
        call_person(p, REPLY_REPLACE);
    }
}

static void booting(struct place *p)
{
    struct hands *h = &p->hands;
    if (p->machine.boots == h->boots || !p->machine.up || !p->machine.module || !p->given)
        return;
    h->step = HANDS_IDLE;
    /* A reboot has not helped: another GPU has to come. */
    if (place_broken(p) > 0) {
        if (!h->person)
            call_person(p, REPLY_REPLACE);
        else
            *h = (struct hands){ HANDS_DRAINING, p->fleet->sim.now_ms, 0,       REPLY_REPLACE,
                                 true,           h->cordoned,          h->boots };
        p->fleet->sums.persons -= h->step == HANDS_DRAINING; /* it is the same visit */
    } else if (h->cordoned) {
        set_cordon(p, false);
    }
}

static void draining(struct place *p)
{
    struct hands *h = &p->hands;
    if (jobs_running(p) == 0)
        act(p);
    else if (p->fleet->sim.now_ms >= h->at_ms)
        jobs_evict(p);
}

static void coming(struct place *p)
{
    struct hands *h = &p->hands;
    if (p->fleet->sim.now_ms < h->at_ms)
        return;
    if (h->person && !needs_person(p) && p->trouble_count == 0) {
        h->step = HANDS_IDLE; /* it is repaired already */
        return;
    }
    if (!h->cordoned)
        set_cordon(p, true);
    h->step = HANDS_DRAINING;
    h->at_ms = h->drain_ms < 0 ? INT64_MAX : p->fleet->sim.now_ms + h->drain_ms;
}

void hands_look(struct place *p)
{
    struct hands *h = &p->hands;
    switch (h->step) {
    case HANDS_IDLE:
        if (needs_person(p))
            call_person(p, REPLY_REBOOT);
        break;
    case HANDS_COMING:
        coming(p);
        break;
    case HANDS_DRAINING:
        draining(p);
        break;
    case HANDS_AWAY:
        if (p->fleet->sim.now_ms >= h->at_ms) {
            place_do(p, SPEC_GPU_REPLACE);
            h->step = HANDS_BOOTING;
        }
        break;
    case HANDS_BOOTING:
        booting(p);
        break;
    }
}
