/* How long new nodes take to become ready: each row is a story of passes, and what is said of it in
 * the end. */
#include "reconcilers/decide/stages.h"

#include "base/json.h"
#include "base/mem.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { PASSES_MAX = 7, BEGAN_S = 1795168800 }; /* 2026-11-20T10:00:00Z */
enum { DRIVER = 1 << OPERAND_DRIVER, PLUGIN = 1 << OPERAND_DEVICE_PLUGIN };

#define SEEN "'seen':'2026-11-20T10:00:00Z'"

struct pass {
    int at_s;
    enum stages_look look;
    int state;
    unsigned wanted, up;
    bool running; /* the driver's container */
    int gpus;
    bool served, proof, claim;
};

#define JOINS .look = STAGES_JOINS
#define FOUND .look = STAGES_FOUND
#define GOES_ON .look = STAGES_GOES_ON
#define COMES                                                                                      \
    {                                                                                              \
        0, JOINS, .state = NODE_DISCOVERED                                                         \
    }
#define OURS .state = NODE_INSTALLING, .wanted = DRIVER | PLUGIN
#define PULLS(at)                                                                                  \
    {                                                                                              \
        at, GOES_ON, OURS                                                                          \
    }
#define BUILDS(at)                                                                                 \
    {                                                                                              \
        at, GOES_ON, OURS, .running = true                                                         \
    }
#define LOADED(at)                                                                                 \
    {                                                                                              \
        at, GOES_ON, OURS, .running = true, .up = DRIVER                                           \
    }
#define ALL_UP .wanted = DRIVER | PLUGIN, .running = true, .up = DRIVER | PLUGIN, .gpus = 8
#define OFFERS(at)                                                                                 \
    {                                                                                              \
        at, GOES_ON, .state = NODE_VALIDATING, ALL_UP                                              \
    }
#define IS_READY(at)                                                                               \
    {                                                                                              \
        at, GOES_ON, .state = NODE_READY, ALL_UP                                                   \
    }

static const struct row {
    const char *name;
    const char *before; /* what its report says; NULL: nothing */
    struct pass passes[PASSES_MAX];
    size_t count;
    const char *after; /* NULL: nothing */
    int lasted_s[STAGE_COUNT];
} rows[] = {
    { "a new node, stage by stage",
      NULL,
      { COMES, PULLS(2), BUILDS(20), LOADED(95), OFFERS(110), IS_READY(130) },
      6,
      "{" SEEN ",'images':20,'driver':95,'registered':110,'proven':130}",
      { 20, 75, 15, 20 } },
    { "several stages in one pass",
      NULL,
      { COMES, IS_READY(130) },
      2,
      "{" SEEN ",'images':130,'driver':130,'registered':130,'proven':130}",
      { 130, 0, 0, 0 } },
    { "stages that are not reached yet",
      NULL,
      { COMES, PULLS(2), BUILDS(20) },
      3,
      "{" SEEN ",'images':20}",
      { 20, -1, -1, -1 } },
    { "a stage that is left again was reached",
      NULL,
      { COMES, LOADED(20), PULLS(30), LOADED(40) },
      4,
      "{" SEEN ",'images':20,'driver':20}",
      { 20, 0, -1, -1 } },
    { "a host with a driver of its own",
      NULL,
      { COMES,
        { 5, GOES_ON, .state = NODE_INSTALLING, .wanted = PLUGIN },
        { 9, GOES_ON, .state = NODE_READY, .wanted = PLUGIN, .up = PLUGIN, .gpus = 1 } },
      3,
      "{" SEEN ",'images':5,'driver':5,'registered':9,'proven':9}",
      { 5, 0, 4, 0 } },
    { "what is ready stays so",
      NULL,
      { COMES, IS_READY(10), PULLS(20), IS_READY(30) },
      4,
      "{" SEEN ",'images':10,'driver':10,'registered':10,'proven':10}",
      { 10, 0, 0, 0 } },
    { "a node that served before is not new",
      NULL,
      { { 0, JOINS, OURS, .served = true }, IS_READY(10) },
      2,
      NULL,
      { 0 } },
    { "nor is one that was proven",
      NULL,
      { { 0, JOINS, OURS, .proof = true }, IS_READY(10) },
      2,
      NULL,
      { 0 } },
    { "nor is one that is claimed",
      NULL,
      { { 0, JOINS, OURS, .claim = true }, IS_READY(10) },
      2,
      NULL,
      { 0 } },
    { "nor one that is ready at first sight",
      NULL,
      { { 0, JOINS, .state = NODE_READY }, IS_READY(10) },
      2,
      NULL,
      { 0 } },
    { "what is not Ostler's to serve has no time",
      NULL,
      { { 0, JOINS, .state = NODE_FOREIGN } },
      1,
      NULL,
      { 0 } },
    { "the arrival time of a node that was there already is unknown",
      NULL,
      { { 0, FOUND, OURS }, IS_READY(10) },
      2,
      NULL,
      { 0 } },
    { "one goes on after a restart",
      "{" SEEN ",'images':20}",
      { { 60, FOUND, OURS, .running = true }, LOADED(95), IS_READY(130) },
      3,
      "{" SEEN ",'images':20,'driver':95,'registered':130,'proven':130}",
      { 20, 75, 35, 0 } },
    { "what it passed meanwhile is left out",
      "{" SEEN ",'images':20}",
      { { 97, FOUND, OURS, .running = true, .up = DRIVER }, IS_READY(130) },
      2,
      "{" SEEN ",'images':20,'registered':130,'proven':130}",
      { 20, -1, 110, 0 } },
    { "one that became ready meanwhile",
      "{" SEEN ",'images':20}",
      { { 97, FOUND, .state = NODE_READY, .wanted = DRIVER, .up = DRIVER, .running = true,
          .gpus = 8 },
        IS_READY(130) },
      2,
      "{" SEEN ",'images':20}",
      { 20, -1, -1, -1 } },
    { "a report of nonsense is none",
      "{'seen':'yesterday','images':20}",
      { { 0, FOUND, OURS } },
      1,
      NULL,
      { 0 } },
    { "invalid times are none",
      "{" SEEN ",'images':-1,'driver':99999999999,'registered':'x'}",
      { { 0, FOUND, OURS } },
      1,
      "{" SEEN "}",
      { -1, -1, -1, -1 } },
    { "a clock that went back",
      "{" SEEN "}",
      { LOADED(-100) },
      1,
      "{" SEEN ",'images':0,'driver':0}",
      { 0, 0, -1, -1 } },
};

static unsigned pass(struct node_stages *s, const struct pass *p)
{
    struct node node = {
        .gpus = p->gpus, .has_served = p->served, .proof = p->proof, .claim = p->claim
    };
    struct node_pods pods = { 0 };
    pods.of[OPERAND_DRIVER].running = p->running;
    struct node_input in = { .view.node = &node, .pods = &pods, .now_s = BEGAN_S + p->at_s };
    struct node_verdict v = { .state = (enum node_state) p->state,
                              .wanted = p->wanted,
                              .up = p->up };
    if (p->wanted & PLUGIN)
        v.carried.hash[TIER_STACK][0] = 's';
    return stages_take(s, &in, &v, p->look);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct node_stages s, again;
    CLEANUP_JSON json_t *status = json_object();
    if (row->before)
        json_object_set_new(status, GPU_NODE_STAGES, tree(row->before));
    node_stages_read(status, &s);
    for (size_t i = 0; i < row->count; i++)
        pass(&s, &row->passes[i]);
    CLEANUP_JSON json_t *said = node_stages_json(&s);
    if (!row->after) {
        assert_null(said);
        return;
    }
    assert_tree(said, row->after);
    for (int i = 0; i < STAGE_COUNT; i++)
        assert_int_equal(stages_lasted_s(&s, (enum node_stage) i), row->lasted_s[i]);
    /* What was said is read as it was. */
    json_object_set(status, GPU_NODE_STAGES, said);
    node_stages_read(status, &again);
    again.missed = s.missed;
    assert_memory_equal(&again, &s, sizeof s);
}

/* Each stage is told once, in the pass in which it is reached. */
static void check_news(void **state)
{
    (void) state;
    const struct pass passes[] = { COMES, BUILDS(20), IS_READY(130), IS_READY(131) };
    const unsigned news[] = { 0, 1 << STAGE_IMAGES,
                              1 << STAGE_DRIVER | 1 << STAGE_REGISTERED | 1 << STAGE_PROVEN, 0 };
    struct node_stages s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(passes); i++)
        assert_int_equal(pass(&s, &passes[i]), news[i]);
    assert_false(node_stages_run(&s));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "each stage is told once", check_news, NULL);
    return suite_run(&s, "stages");
}
