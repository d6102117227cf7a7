/* What a real API server answered to the writes of one object: the case files of
 * tests/cases/sim_apply, recorded by tests/sim/record_apply.py. Each step is a test of its own, on
 * the object as the real server left it before. */
#ifndef OSTLER_TESTS_SUPPORT_STORY_H
#define OSTLER_TESTS_SUPPORT_STORY_H

#include <jansson.h>
#include <stdbool.h>

#include "tests/unit/support/cmocka.h"

/* One step. All is borrowed from the story, which lives until story_run() is over. */
struct story_step {
    char *name;       /* "configmap-owners: an update moves the key that it changes" */
    const char *verb; /* "create", "update", "merge", "json", "strategic", "apply" */
    const char *manager;
    const char *subresource; /* "" or "status" */
    char time[48];           /* what managedFields say of an entry that this step writes */
    bool force;
    bool defaulted;            /* the server filled in more than the write says */
    const json_t *server_sets; /* JSON pointers: what the server wrote itself, without an owner */
    const json_t *body;
    const json_t *before;  /* NULL: the object is made */
    const json_t *after;   /* NULL: refused */
    const json_t *refusal; /* reason, message, details */
    int code;
};

/* Runs `check` with each step that `wants` it as its state; what main() returns. None at all is a
 * failure. */
typedef bool story_filter(const struct story_step *step);
int story_run(const char *group, story_filter *wants, CMUnitTestFunction check);

/* The step's `after` as it was before the server wrote what it writes by itself. With the
 * managedFields of `before`. New reference. */
json_t *story_written(const struct story_step *step);
/* Makes what the server writes by itself in this step what it was before. */
void story_put_back(const struct story_step *step, json_t *object);
/* An object without its managedFields, generation and time. New reference. */
json_t *story_bare(const json_t *object);
/* Fails the test unless both are equal; the order of keys does not count. */
void story_assert_same(const json_t *got, const json_t *want);
/* Fails the test unless all that `part` has, null aside, is in `whole`. */
void story_assert_within(const json_t *part, const json_t *whole);

#endif
