#include "tests/sweep/least.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"

/* ---- lives */

static const struct {
    const char *sweep;
    enum least_life life;
} sweeps[] = {
    { "crash-sweep", LEAST_LONG },
    { "lost-response-sweep", LEAST_LONG },
    { "stale-sweep", LEAST_LONG },
    { "unobserved-sweep", LEAST_LONG },
    { "two-leaders", LEAST_LONG },
    { "outage", LEAST_LONG },
    { "server-trouble", LEAST_LONG },
    { "clocks", LEAST_LONG },
    { "dst-life", LEAST_LONG },
    { "foreign-writers", LEAST_LONG },
    { "same", LEAST_LONG },
    { "rbac-matrix", LEAST_LONG_RIGHTS },
    { "dst", LEAST_DST },
    { "dst-short", LEAST_SHORT },
    { "acto", LEAST_ACTO },
    { "agents-same", LEAST_AGENTS },
    { "agents-crash", LEAST_AGENTS },
    { "agents-stale", LEAST_AGENTS },
    { "agents-lost-response", LEAST_AGENTS },
    { "agents-unobserved", LEAST_AGENTS },
    { "agents-two-leaders", LEAST_AGENTS },
    { "agents-outage", LEAST_AGENTS },
    { "agents-writers", LEAST_AGENTS },
    { "agents-dst", LEAST_AGENTS },
    { "agents-rights", LEAST_AGENTS_RIGHTS },
    { "agents-acto", LEAST_AGENTS_ACTO },
    { "agents-steps", LEAST_AGENT_STEPS },
    { "upgrade-same", LEAST_UPGRADE },
    { "upgrade-crash", LEAST_UPGRADE },
    { "upgrade-lost-response", LEAST_UPGRADE },
    { "upgrade-stale", LEAST_UPGRADE },
    { "upgrade-unobserved", LEAST_UPGRADE },
    { "upgrade-two-leaders", LEAST_UPGRADE },
    { "upgrade-outage", LEAST_UPGRADE },
    { "upgrade-server-trouble", LEAST_UPGRADE },
    { "upgrade-clocks", LEAST_UPGRADE },
    { "upgrade-writers", LEAST_UPGRADE },
    { "upgrade-older-crds", LEAST_UPGRADE },
    { "upgrade-dst", LEAST_UPGRADE },
    { "upgrade-rights", LEAST_UPGRADE_RIGHTS },
    { "upgrade-people", LEAST_STEPS },
    { "upgrade-policy", LEAST_STEPS },
    { "upgrade-nodes", LEAST_STEPS },
    { "upgrade-jobs", LEAST_JOBS },
    { "upgrade-parked", LEAST_PARKED },
    { "rollouts", LEAST_CASE_FILES },
    { "health-observe", LEAST_HEALTH },
    { "health-close", LEAST_HEALTH_CLOSE },
    { "health-repair", LEAST_HEALTH_REPAIR },
    { "health-crash", LEAST_HEALTH_LIFE },
    { "health-lost-response", LEAST_HEALTH_LIFE },
    { "health-stale", LEAST_HEALTH_LIFE },
    { "health-unobserved", LEAST_HEALTH_LIFE },
    { "health-two-leaders", LEAST_HEALTH_LIFE },
    { "health-outage", LEAST_HEALTH_LIFE },
    { "health-dst", LEAST_HEALTH_LIFE },
};

bool least_life_of(const char *sweep, enum least_life *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(sweeps); i++)
        if (str_eq(sweeps[i].sweep, sweep)) {
            *ret = sweeps[i].life;
            return true;
        }
    return false;
}

/* ---- the table */

enum { LIVES = 100 };

/* Least tries in a hundred lives: six tenths of what was measured, so that another order of things
 * does no harm. A new invariant needs a row, a new life a column, as LEAST_LIVES has them; 0 needs
 * a reason below. The rights of agents: of the bounded size, which has more lives in which little
 * can be done than all 59. */
static const unsigned tries[INVARIANT_COUNT][LEAST_LIFE_COUNT] = {
#define ROW(id, ...) [INVARIANT_##id] = { __VA_ARGS__ }
    /*                    LONG rights    DST   ACTO AGENTS rights   ACTO  UPGR. rights  STEPS A-STEP
     *                    FILES   JOBS PARKED HEALTH  CLOSE REPAIR   LIFE  SHORT */
    ROW(S1_BUDGET, 0, 0, 400, 0, 0, 0, 0, 200, 150, 200, 200, 300, 300, 350, 0, 100, 100, 75, 60),
    ROW(S2_CORDON, 9500, 4500, 6500, 8500, 9500, 1800, 2000, 5000, 2500, 3000, 3000, 5000, 4000,
        6000, 6000, 5700, 5700, 3000, 2200),
    ROW(S3_ASSIGNED, 1000, 500, 550, 6500, 1000, 180, 450, 350, 150, 60, 70, 70, 60, 60, 200, 120,
        120, 120, 300),
    ROW(S3_KEPT, 3000, 0, 1000, 0, 3500, 0, 0, 900, 0, 900, 900, 1000, 1300, 1500, 3000, 2400, 2400,
        920, 660),
    ROW(S3_CLAIMED, 60, 30, 400, 250, 0, 0, 0, 300, 150, 150, 200, 300, 240, 350, 0, 100, 100, 75,
        60),
    ROW(S3_CLOSED, 0, 0, 700, 0, 0, 0, 0, 450, 200, 350, 400, 600, 500, 700, 0, 200, 200, 150, 120),
    ROW(S3_IMAGES, 0, 0, 350, 0, 0, 0, 0, 200, 100, 200, 200, 300, 270, 350, 0, 100, 100, 75, 60),
    ROW(S3_PROVEN, 400, 200, 500, 100, 350, 80, 100, 400, 200, 350, 350, 550, 450, 700, 200, 320,
        320, 240, 180),
    ROW(S3_STEPS, 0, 0, 1500, 0, 0, 0, 0, 1000, 650, 950, 1000, 1500, 1400, 1500, 0, 500, 500, 370,
        300),
    ROW(S4_EVICTION, 0, 0, 350, 0, 0, 0, 0, 200, 100, 200, 200, 35, 0, 0, 0, 200, 250, 0, 0),
    ROW(S6_IDENTITY, 13000, 6000, 10000, 22000, 12500, 2400, 3000, 6500, 3500, 3500, 3500, 6000,
        5000, 8000, 7000, 6900, 6900, 4000, 3400),
    ROW(S7_FRAME_NODE, 9500, 4500, 6500, 8500, 9500, 1800, 2000, 5000, 2500, 3000, 3000, 5000, 4000,
        6000, 6000, 5700, 5700, 3000, 2200),
    ROW(S7_FRAME_CHILD, 14000, 5000, 8500, 47500, 14000, 2000, 5000, 6500, 2500, 4000, 4500, 6000,
        4000, 6500, 9000, 7200, 7100, 3700, 3100),
    ROW(S7_FRAME_POLICY, 6500, 3000, 4000, 34000, 6000, 1200, 33000, 2500, 1500, 2000, 2000, 2000,
        2500, 3500, 7000, 5400, 5100, 2000, 1400),
    ROW(S8_GENERATION, 1000, 600, 1000, 1000, 1000, 220, 350, 900, 450, 750, 750, 1000, 950, 1000,
        400, 640, 640, 480, 360),
    ROW(S9_HONESTY, 500, 250, 300, 900, 450, 80, 650, 100, 35, 100, 75, 100, 90, 60, 190, 100, 75,
        75, 90),
    ROW(S9_COUNTS, 6000, 3000, 4000, 34000, 6000, 1200, 33000, 2500, 1500, 2000, 2000, 2000, 2500,
        3500, 7000, 5400, 5100, 2000, 1400),
    ROW(S9_TIMES, 30000, 6000, 18000, 80000, 30000, 2000, 80000, 12000, 4000, 8000, 8000, 8000,
        12000, 8000, 43000, 32000, 30000, 12000, 11000),
    ROW(S10_LEADER, 36000, 22500, 28500, 104000, 35500, 8800, 43000, 18500, 11500, 12000, 12500,
        16000, 0, 21500, 35000, 27000, 26000, 11000, 9300),
    ROW(S11_FAILED, 0, 0, 350, 0, 0, 0, 0, 100, 100, 200, 200, 300, 300, 350, 0, 100, 100, 75, 60),
    ROW(S12_ONCE, 32000, 14000, 23500, 91500, 32000, 5600, 41000, 17000, 8000, 11500, 12000, 16000,
        13000, 19500, 24000, 20000, 19000, 10000, 7600),
    ROW(S12_EVENTS, 2500, 1000, 2500, 2500, 2500, 400, 1500, 1000, 700, 1000, 1000, 1000, 1350,
        1000, 8000, 5800, 5600, 1800, 905),
    ROW(S13_DELETION, 600, 300, 250, 350, 500, 120, 400, 250, 200, 0, 0, 25, 0, 0, 300, 240, 240,
        240, 275),
    ROW(S14_BOUNDS, 33000, 14000, 24000, 83000, 32500, 5600, 42000, 17000, 8000, 12000, 12500,
        16000, 14000, 20000, 31000, 25000, 24000, 10000, 7600),
    ROW(S15_SECRETS, 89000, 78000, 99500, 300000, 88500, 31000, 238500, 52500, 43000, 37000, 38500,
        208500, 900000, 169500, 600000, 160000, 230000, 76000, 53000),
    ROW(S16_STATIC, 36000, 22500, 28500, 104000, 35500, 8800, 43000, 18500, 11500, 12000, 12500,
        17000, 14500, 21500, 35000, 27000, 26000, 11000, 9300),
    ROW(G1_PAUSED, 0, 0, 350, 0, 0, 0, 0, 200, 100, 150, 150, 300, 300, 350, 0, 100, 100, 75, 60),
    ROW(G2_APPROVED, 0, 0, 150, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0),
    ROW(G3_WINDOW, 0, 0, 350, 0, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0),
    ROW(G4_DOMAIN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0),
    ROW(G5_CANARY, 0, 0, 150, 0, 0, 0, 0, 150, 85, 100, 100, 90, 0, 0, 0, 0, 0, 0, 0),
    ROW(G6_THRESHOLD, 0, 0, 350, 0, 0, 0, 0, 200, 100, 150, 150, 300, 300, 350, 0, 100, 100, 75,
        60),
    ROW(G7_FIRST, 210, 120, 170, 120, 180, 70, 120, 170, 90, 180, 180, 250, 240, 340, 200, 160, 160,
        120, 115),
    ROW(UNLOAD, 4500, 4500, 950, 750, 4500, 1800, 750, 900, 900, 550, 600, 300, 240, 350, 1800,
        1400, 1000, 960, 360),
    ROW(L1_STATUS, 600, 0, 300, 300, 600, 0, 300, 200, 0, 150, 200, 55, 60, 60, 300, 240, 160, 200,
        120),
    ROW(L1_NODES, 600, 0, 200, 0, 600, 0, 0, 150, 0, 150, 150, 45, 60, 60, 300, 240, 160, 200, 120),
    ROW(L1_MARKS, 3500, 0, 650, 0, 3500, 0, 0, 500, 0, 450, 450, 250, 240, 350, 1500, 1200, 800,
        800, 240),
    ROW(L2_IDLE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0),
    ROW(L3_PROCEEDS, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 1500, 50, 0, 0, 0, 0, 0, 30),
    ROW(L3_FAIR, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 4000, 250, 0, 0, 0, 0, 0, 0),
    ROW(L5_REMOVAL, 100, 0, 60, 60, 100, 0, 60, 60, 0, 0, 0, 3, 0, 0, 60, 40, 40, 40, 60),
    ROW(L7_CACHE, 700, 0, 350, 350, 700, 0, 350, 300, 0, 150, 200, 60, 60, 60, 350, 280, 200, 240,
        180),
    ROW(L8_STATUS, 600, 0, 200, 0, 600, 0, 0, 150, 0, 150, 150, 45, 60, 60, 300, 240, 160, 200,
        120),
    ROW(L8_REPORTS, 2500, 0, 750, 400, 2500, 0, 400, 700, 0, 550, 600, 300, 240, 350, 1200, 960,
        640, 600, 240),
    ROW(L8_MOMENTS, 700, 0, 300, 300, 700, 0, 300, 450, 0, 450, 450, 400, 350, 120, 2000, 1400,
        1400, 640, 120),
    ROW(L9_FLAP, 30000, 6000, 18000, 80000, 30000, 2000, 80000, 12000, 4000, 8000, 8000, 8000,
        12000, 8000, 43000, 32000, 30000, 12000, 11000),
    ROW(H1_OBSERVE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 0, 0, 0, 0),
    ROW(H2_SEEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5000, 3000, 2000, 900, 0),
    ROW(H3_GONE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4000, 2000, 2000, 600, 0),
    ROW(H4_CLOSED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 600, 300, 200, 0),
    ROW(H5_NO_EVICTION, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 0, 50, 0),
    ROW(H6_OPENED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 150, 60, 0),
    ROW(H7_ATTEMPTS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 50, 0),
    ROW(H8_BUDGET, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 30, 30, 0),
    ROW(H9_BRAKE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 100, 40, 0),
    ROW(H10_REST, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 17, 17, 0, 0),
    ROW(H11_CONDITION, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2500, 3000, 2500, 1000, 0),
#undef ROW
};

#define BIT(life) (1U << (life))
#define RIGHTS (BIT(LEAST_LONG_RIGHTS) | BIT(LEAST_AGENTS_RIGHTS) | BIT(LEAST_UPGRADE_RIGHTS))
#define NO_CHANGE                                                                                  \
    (BIT(LEAST_LONG) | BIT(LEAST_LONG_RIGHTS) | BIT(LEAST_ACTO) | BIT(LEAST_AGENTS) |              \
     BIT(LEAST_AGENTS_RIGHTS) | BIT(LEAST_AGENTS_ACTO) | BIT(LEAST_HEALTH))
#define CLOSES (BIT(LEAST_HEALTH_CLOSE) | BIT(LEAST_HEALTH_REPAIR) | BIT(LEAST_HEALTH_LIFE))
#define WITHOUT_FAULTS (~(BIT(LEAST_HEALTH) | CLOSES))
#define ONLY_SEEN (WITHOUT_FAULTS | BIT(LEAST_HEALTH))
#define UPGRADES (BIT(LEAST_UPGRADE) | BIT(LEAST_UPGRADE_RIGHTS) | STEPS)
#define ACTO (BIT(LEAST_ACTO) | BIT(LEAST_AGENTS_ACTO))
#define STEPS (BIT(LEAST_STEPS) | BIT(LEAST_AGENT_STEPS))

#define ONE_THING (BIT(LEAST_JOBS) | BIT(LEAST_PARKED))
#define NO_FAULT "no GPU fails in this life"
#define OBSERVES "no node is closed for a fault in this life"
#define NOT_BESIDES "one thing and nothing else happens in this life: the case files have it"

#define NOT_CHANGED "no node gets another driver or stack in this life, so none is claimed"
#define NOT_ALLOWED "a permission is missing: Ostler cannot do what the policy says, and need not"
#define NOT_LONG                                                                                   \
    "nothing waits for long in this life, or a permission is missing; dst and the case files wait"
#define BROKEN                                                                                     \
    "the driver of this life never comes up on one node: what the policy says is not reached"
#define NOT_REMOVED                                                                                \
    "the policy is not deleted in this life; what takes it back deletes it after the last quiet "  \
    "moment"

/* Why an invariant is not tried in these lives. */
static const struct {
    enum invariant_id id;
    unsigned lives;
    const char *why;
} reasons[] = {
    { INVARIANT_S1_BUDGET, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_S3_CLOSED, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_S3_IMAGES, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_S3_STEPS, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_S4_EVICTION, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_S11_FAILED, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_G1_PAUSED, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_G2_APPROVED, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_G3_WINDOW, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_G4_DOMAIN, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_G5_CANARY, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_G6_THRESHOLD, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_L2_IDLE, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_L3_PROCEEDS, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_L3_FAIR, NO_CHANGE, NOT_CHANGED },
    { INVARIANT_L2_IDLE, UPGRADES | ONE_THING | BIT(LEAST_DST),
      "a node that waits here has its job; in the case files others have their turn when that has "
      "ended" },
    { INVARIANT_L3_PROCEEDS, UPGRADES | BIT(LEAST_PARKED), NOT_LONG },
    { INVARIANT_L3_FAIR, UPGRADES | BIT(LEAST_PARKED), NOT_LONG },
    { INVARIANT_G2_APPROVED, UPGRADES,
      "the policy asks for no approval in this life; dst and the case files do" },
    { INVARIANT_G3_WINDOW, UPGRADES,
      "the policy has no window while nodes begin in this life; dst and the case files do" },
    { INVARIANT_G4_DOMAIN, UPGRADES | BIT(LEAST_DST),
      "the policy names no topologyKey in this life; the case files do" },
    { INVARIANT_S3_CLAIMED,
      BIT(LEAST_AGENTS) | BIT(LEAST_AGENTS_RIGHTS) | BIT(LEAST_AGENTS_ACTO) | BIT(LEAST_HEALTH),
      "no client changes the label of a driver in this life" },
    { INVARIANT_S3_KEPT, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L1_STATUS, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L1_NODES, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L1_MARKS, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L5_REMOVAL, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L7_CACHE, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L8_STATUS, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L8_REPORTS, RIGHTS, NOT_ALLOWED },
    { INVARIANT_L8_MOMENTS, RIGHTS, NOT_ALLOWED },
    { INVARIANT_S3_KEPT, ACTO, BROKEN },
    { INVARIANT_L1_NODES, ACTO, BROKEN },
    { INVARIANT_L1_MARKS, ACTO, BROKEN },
    { INVARIANT_L8_STATUS, ACTO, BROKEN },
    { INVARIANT_S13_DELETION, STEPS, NOT_REMOVED },
    { INVARIANT_L5_REMOVAL, STEPS, NOT_REMOVED },
    { INVARIANT_S4_EVICTION, ONE_THING, NOT_BESIDES },
    { INVARIANT_S10_LEADER, BIT(LEAST_JOBS), "two weeks are lived without a lease" },
    { INVARIANT_S13_DELETION, ONE_THING, NOT_BESIDES },
    { INVARIANT_G2_APPROVED, ONE_THING, NOT_BESIDES },
    { INVARIANT_G3_WINDOW, ONE_THING, NOT_BESIDES },
    { INVARIANT_G4_DOMAIN, ONE_THING, NOT_BESIDES },
    { INVARIANT_G5_CANARY, ONE_THING, NOT_BESIDES },
    { INVARIANT_L5_REMOVAL, ONE_THING, NOT_BESIDES },
    { INVARIANT_G2_APPROVED, CLOSES | BIT(LEAST_SHORT),
      "the policy asks for no approval in this life; dst and the case files do" },
    { INVARIANT_G3_WINDOW, CLOSES | BIT(LEAST_SHORT), "the policy has no window in this life" },
    { INVARIANT_G4_DOMAIN, CLOSES | BIT(LEAST_SHORT),
      "the policy names no topologyKey in this life" },
    { INVARIANT_G5_CANARY, CLOSES | BIT(LEAST_SHORT), "the policy has no canary in this life" },
    { INVARIANT_L2_IDLE, CLOSES | BIT(LEAST_SHORT), NOT_LONG },
    { INVARIANT_L3_PROCEEDS, CLOSES, NOT_LONG },
    { INVARIANT_L3_FAIR, CLOSES | BIT(LEAST_SHORT), NOT_LONG },
    { INVARIANT_S4_EVICTION, BIT(LEAST_HEALTH_LIFE) | BIT(LEAST_SHORT),
      "no pod uses a GPU in this life" },
    { INVARIANT_H1_OBSERVE, WITHOUT_FAULTS, NO_FAULT },
    { INVARIANT_H1_OBSERVE, CLOSES, "the mode is another one in this life" },
    { INVARIANT_H2_SEEN, WITHOUT_FAULTS, NO_FAULT },
    { INVARIANT_H3_GONE, WITHOUT_FAULTS, NO_FAULT },
    { INVARIANT_H4_CLOSED, ONLY_SEEN, OBSERVES },
    { INVARIANT_H5_NO_EVICTION, ONLY_SEEN, OBSERVES },
    { INVARIANT_H5_NO_EVICTION, BIT(LEAST_HEALTH_REPAIR), "the mode is Repair in this life" },
    { INVARIANT_H6_OPENED, ONLY_SEEN, OBSERVES },
    { INVARIANT_H7_ATTEMPTS, ONLY_SEEN, OBSERVES },
    { INVARIANT_H7_ATTEMPTS, BIT(LEAST_HEALTH_CLOSE), "no node is repaired in this life" },
    { INVARIANT_H8_BUDGET, ONLY_SEEN, OBSERVES },
    { INVARIANT_H9_BRAKE, ONLY_SEEN, OBSERVES },
    { INVARIANT_H10_REST, WITHOUT_FAULTS, NO_FAULT },
    { INVARIANT_H10_REST, BIT(LEAST_HEALTH_LIFE), "no day of quiet is in this life" },
    { INVARIANT_H11_CONDITION, WITHOUT_FAULTS, NO_FAULT },
};

/* ---- what is asked of a sweep */

unsigned least_tries(enum least_life life, enum invariant_id id)
{
    return tries[id][life];
}

const char *least_reason(enum least_life life, enum invariant_id id)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].id == id && (reasons[i].lives & BIT(life)))
            return reasons[i].why;
    return NULL;
}

uint64_t least_of(enum least_life life, enum invariant_id id, uint64_t lives, bool whole)
{
    uint64_t least = tries[id][life] * lives / LIVES;
    return least == 0 && whole && tries[id][life] ? 1 : least;
}

size_t least_judge(const char *sweep, const struct counts *c, bool whole, struct buf *out)
{
    enum least_life life;
    size_t failed = 0;
    if (!least_life_of(sweep, &life)) {
        buf_printf(out, "FAIL %s has no row in tests/sweep/least.c\n", sweep);
        return 1;
    }
    for (int i = 0; i < INVARIANT_COUNT; i++) {
        enum invariant_id id = (enum invariant_id) i;
        uint64_t least = least_of(life, id, c->runs, whole);
        if (c->tried[i] >= least)
            continue;
        buf_printf(out,
                   "FAIL %s tried %s %" PRIu64 " times in %" PRIu64 " lives, at least %" PRIu64
                   " are needed\n",
                   sweep, invariant_name(id), c->tried[i], c->runs, least);
        failed++;
    }
    return failed;
}
