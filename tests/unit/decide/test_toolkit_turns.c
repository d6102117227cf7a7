/* Who gets the first toolkit of a pool next. */
#include "reconcilers/decide/toolkit_turns.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { NOW_S = 1000000, INSTALL_S = 1800, NODES_MAX = 12 };

/* A node in one letter, by what it stands for. */
static const struct letter {
    char letter;
    struct toolkit_node node;
} letters[] = {
    { '.', { .state = TOOLKIT_OUT } },
    { 'w', { .state = TOOLKIT_WAITS } },
    /* runs Ostler */
    { 'o', { .state = TOOLKIT_WAITS, .last = true } },
    /* has its turn */
    { 'h', { .state = TOOLKIT_WAITS, .has_turn = true, .turn_s = NOW_S - TOOLKIT_TURN_S + 1 } },
    /* could not use it */
    { 'x', { .state = TOOLKIT_WAITS, .has_turn = true, .turn_s = NOW_S - TOOLKIT_TURN_S } },
    /* got it by a wrong clock */
    { 'a', { .state = TOOLKIT_WAITS, .has_turn = true, .turn_s = NOW_S + 1 } },
    /* lost its turn lately */
    { 'p', { .state = TOOLKIT_WAITS, .turn_s = NOW_S - 10 } },
    { 't', { .state = TOOLKIT_TRIES } },
    { 'W', { .state = TOOLKIT_WORKS } },
    { 'F', { .state = TOOLKIT_FAILED } },
    /* down */
    { 'D', { .state = TOOLKIT_FAILED, .lost_s = NOW_S - INSTALL_S + 1 } },
    /* down for long */
    { 'L', { .state = TOOLKIT_FAILED, .lost_s = NOW_S - INSTALL_S } },
    { 'b', { .state = TOOLKIT_WAITS, .stack = "other" } },
    { 'B', { .state = TOOLKIT_FAILED, .stack = "other" } },
    { 'c', { .state = TOOLKIT_WAITS, .pool = 1 } },
};

static const struct row {
    const char *name;
    const char *nodes; /* a letter each */
    size_t canary_nodes;
    const char *granted; /* 1: it has its turn */
    /* the failed node, by its place, that the waiting ones are told of; NULL: none */
    const char *stopped_by;
    int64_t again_s; /* from now; 0: not by itself */
} rows[] = {
    { "no node waits", "WWW", 1, "000", NULL, 0 },
    { "one goes first", "www", 1, "100", NULL, TOOLKIT_TURN_S },
    { "no node goes beside the first", "tww", 1, "000", NULL, 0 },
    { "where one works two more go", "Wwww", 1, "0110", NULL, TOOLKIT_TURN_S },
    { "where four work five more go", "WWWWwwwwwww", 1, "00001111100", NULL, TOOLKIT_TURN_S },
    { "those that try take places", "WWWttww", 1, "0000011", NULL, TOOLKIT_TURN_S },
    { "three canaries go at once", "wwwww", 3, "11100", NULL, TOOLKIT_TURN_S },
    { "all three have to work", "WWtww", 3, "00000", NULL, 0 },
    { "where all three work four go", "WWWwwwww", 3, "00011110", NULL, TOOLKIT_TURN_S },
    { "no canary counts as one", "www", 0, "100", NULL, TOOLKIT_TURN_S },
    { "where the first one fails no node follows", "Fww", 1, "000", "0", 0 },
    { "where one of three canaries fails no node follows", "WFWww", 3, "00000", "1", 0 },
    { "where one works and one fails one more is tried", "WFww", 1, "0010", NULL, TOOLKIT_TURN_S },
    { "where as many fail as may be tried no node follows", "WFFww", 1, "00000", "1", 0 },
    { "while one tries the one that failed has not stopped the others", "FtWww", 1, "00000", NULL,
      0 },
    { "a node that went down is waited for", "Dww", 1, "000", "0", 1 },
    { "a node that has been down for long is not", "Lww", 1, "010", NULL, TOOLKIT_TURN_S },
    { "a turn that is not used yet takes a place", "hww", 1, "100", NULL, 1 },
    { "a turn that could not be used goes to the next node", "xww", 1, "010", NULL,
      TOOLKIT_TURN_S },
    { "a turn that could not be used comes again where no other node waits", "x", 1, "1", NULL,
      TOOLKIT_TURN_S },
    { "who lost its turn comes after those that had none", "pw", 1, "01", NULL, TOOLKIT_TURN_S },
    { "a turn that is still to come is none", "aw", 1, "01", NULL, TOOLKIT_TURN_S },
    { "the node that runs Ostler goes last", "oww", 1, "010", NULL, TOOLKIT_TURN_S },
    { "the node that runs Ostler goes where it is the only one", "o", 1, "1", NULL,
      TOOLKIT_TURN_S },
    { "another stack has a first node of its own", "twb", 1, "001", NULL, TOOLKIT_TURN_S },
    { "another stack that failed stops no node", "Bw", 1, "01", NULL, TOOLKIT_TURN_S },
    { "another pool has a first node of its own", "Fwc", 1, "001", "0", TOOLKIT_TURN_S },
    { "nodes of which nothing is learned count for nothing", "..w", 1, "001", NULL,
      TOOLKIT_TURN_S },
};

static void fill(const char *text, struct toolkit_node nodes[static NODES_MAX])
{
    static const char *const names[NODES_MAX] = { "0", "1", "2", "3", "4",  "5",
                                                  "6", "7", "8", "9", "10", "11" };
    for (size_t i = 0; text[i]; i++)
        for (size_t k = 0; k < ARRAY_LEN(letters); k++)
            if (letters[k].letter == text[i]) {
                nodes[i] = letters[k].node;
                nodes[i].name = names[i];
                nodes[i].stack = nodes[i].stack ? nodes[i].stack : "stack";
            }
}

static void check_turns(void **state)
{
    const struct row *row = *state;
    struct toolkit_node nodes[NODES_MAX] = { 0 };
    CLEANUP_ARENA struct arena a = { 0 };
    struct toolkit_turns turns;
    size_t count = strlen(row->nodes);
    const char *stopped_by = NULL;
    fill(row->nodes, nodes);
    toolkit_turns(&(struct toolkit_turns_input){ .nodes = nodes,
                                                 .node_count = count,
                                                 .canary_nodes = row->canary_nodes,
                                                 .install_s = INSTALL_S,
                                                 .now_s = NOW_S },
                  &a, &turns);
    char granted[NODES_MAX + 1] = "";
    for (size_t i = 0; i < count; i++) {
        granted[i] = turns.granted[i] ? '1' : '0';
        stopped_by = stopped_by ? stopped_by : turns.stopped_by[i];
    }
    assert_string_equal(granted, row->granted);
    assert_string_equal(str_or_empty(stopped_by), str_or_empty(row->stopped_by));
    assert_int_equal(turns.again_s ? turns.again_s - NOW_S : 0, row->again_s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_turns, rows);
    return suite_run(&s, "toolkit turns");
}
