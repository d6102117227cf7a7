#include "runtime/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"
#include "tests/unit/support/world.h"

#define READ "GET /apis/coordination.k8s.io/v1/namespaces/ns/leases/ostler"
#define WRITE "PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/ostler?fieldManager=ostler"
#define REMOVE "DELETE /apis/coordination.k8s.io/v1/namespaces/ns/leases/ostler"
#define CREATE "POST /apis/coordination.k8s.io/v1/namespaces/ns/leases?fieldManager=ostler"

struct fixture {
    struct world w;
    struct lease *lease;
    int rv; /* of the record on the server */
};

static void on_leading(void *arg)
{
    struct fixture *f = arg;
    world_say(&f->w, "leading");
}

static void on_suspended(void *arg)
{
    struct fixture *f = arg;
    world_say(&f->w, "suspended");
}

static void on_lost(void *arg)
{
    struct fixture *f = arg;
    world_say(&f->w, "lost");
}

static void on_released(void *arg)
{
    struct fixture *f = arg;
    world_say(&f->w, "released");
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    f->lease = lease_new(&(struct lease_options){ .ns = "ns",
                                                  .name = "ostler",
                                                  .me = "me",
                                                  .transport = &f->w.transport,
                                                  .loop = f->w.loop,
                                                  .clock = &f->w.clock,
                                                  .on_leading = on_leading,
                                                  .on_suspended = on_suspended,
                                                  .on_lost = on_lost,
                                                  .arg = f });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    lease_free(f->lease);
    world_clear(&f->w);
    free(f);
    return 0;
}

static bool may_write(const struct fixture *f)
{
    return f->w.now_ms < lease_write_fence(f->lease);
}

/* The server's record: holder and renewal. */
static char *record(struct fixture *f, const char *holder, const char *renewed)
{
    return xasprintf(
        "{'metadata': {'name': 'ostler', 'namespace': 'ns', 'resourceVersion': '%d'}, 'spec': "
        "{'holderIdentity': '%s', "
        "'leaseDurationSeconds': 15, 'renewTime': '%s', 'leaseTransitions': 3, 'strategy': "
        "'OldestEmulationVersion'}}",
        ++f->rv, holder, renewed);
}

/* The server answers the read that is open. */
static void answer_read(struct fixture *f, const char *holder, const char *renewed)
{
    CLEANUP_FREE char *text = record(f, holder, renewed);
    world_expect(&f->w, READ);
    world_reply(&f->w, 0, 200, text);
    world_turn(&f->w);
}

/* The server takes the write that is open: what was sent, with a new version. */
static void accept_write(struct fixture *f)
{
    CLEANUP_JSON json_t *object = world_body(&f->w, 0);
    json_set_at(object, "metadata.resourceVersion", json_textf("%d", ++f->rv));
    CLEANUP_FREE char *text = json_compact(object);
    world_reply(&f->w, 0, 200, text);
    world_turn(&f->w);
}

static void lead(struct fixture *f)
{
    lease_start(f->lease);
    answer_read(f, "", "2026-11-20T09:00:00.000000Z");
    world_expect(&f->w, WRITE);
    accept_write(f);
    world_expect_said(&f->w, "leading");
}

static void first_one_creates_it(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    world_expect(&f->w, READ);
    assert_int_equal(world_call(&f->w, 0)->request.class, REQUEST_LEASE);
    world_reply(&f->w, 0, 404, "{'reason': 'NotFound', 'message': 'no lease'}");
    world_turn(&f->w);
    world_expect(&f->w, CREATE);
    assert_int_equal(world_call(&f->w, 0)->request.class, REQUEST_LEASE);
    world_expect_body(
        &f->w, 0,
        "{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'ostler', "
        "'namespace': 'ns'}, "
        "'spec': {'holderIdentity': 'me', 'leaseDurationSeconds': 15, 'leaseTransitions': 0, "
        "'acquireTime': '2026-11-20T10:00:01.000000Z', 'renewTime': "
        "'2026-11-20T10:00:01.000000Z'}}");
    assert_false(lease_is_leading(f->lease));
    assert_false(may_write(f));
    accept_write(f);
    world_expect_said(&f->w, "leading");
    assert_true(lease_is_leading(f->lease));
    assert_int_equal(lease_write_fence(f->lease), f->w.now_ms + 10000);
    assert_null(lease_problem(f->lease));
}

static void two_create_it_at_once(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    world_reply(&f->w, 0, 404, "{'reason': 'NotFound'}");
    world_turn(&f->w);
    world_reply(&f->w, 0, 409, "{'reason': 'AlreadyExists', 'message': 'it exists'}");
    world_turn(&f->w);
    answer_read(f, "other", "2026-11-20T10:00:00.000000Z");
    world_expect(&f->w, "");
    world_expect_said(&f->w, "");
    assert_null(lease_problem(f->lease));
}

static void candidate_waits_while_others_renew(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    for (int i = 0; i < 20; i++) {
        char renewed[40];
        snprintf(renewed, sizeof renewed, "2026-11-20T10:00:%02d.000000Z", i);
        answer_read(f, "other", renewed);
        world_expect(&f->w, "");
        world_pass(&f->w, 2000);
    }
    world_expect_said(&f->w, "");
    assert_false(may_write(f));
}

/* A list that was asked for later has all that the holder before has written. */
static void read_that_finds_the_holder_gone_has_a_time(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    answer_read(f, "other", "2026-11-20T10:00:00.000000Z");
    assert_true(lease_free_ms(f->lease) == INT64_MIN);
    world_pass(&f->w, 2000);
    int64_t asked_ms = f->w.now_ms;
    world_pass(&f->w, 500);
    answer_read(f, "", "2026-11-20T10:00:02.000000Z");
    assert_int_equal(lease_free_ms(f->lease), asked_ms);
    accept_write(f);
    world_pass(&f->w, 2000);
    accept_write(f);
    assert_int_equal(lease_free_ms(f->lease), asked_ms);
}

static void before_the_first_lease_there_is_no_holder(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    world_reply(&f->w, 0, 404, "{'reason': 'NotFound'}");
    world_turn(&f->w);
    accept_write(f);
    assert_true(lease_free_ms(f->lease) == INT64_MIN);
}

/* Replicas of one installation have the cluster's lease by one name. */
static void own_lease_has_no_holder_before(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    answer_read(f, "me", "2026-11-20T10:00:00.000000Z");
    accept_write(f);
    assert_true(lease_free_ms(f->lease) == INT64_MIN);
}

/* The times in the record are another machine's: only that it does not change counts. */
static void candidate_takes_over_what_is_not_renewed(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    int64_t begun_ms = f->w.now_ms;
    answer_read(f, "other", "2036-01-01T00:00:00.000000Z");
    while (f->w.now_ms < begun_ms + 14000) {
        world_pass(&f->w, 2000);
        answer_read(f, "other", "2036-01-01T00:00:00.000000Z");
        world_expect(&f->w, "");
    }
    world_pass(&f->w, 1000);
    answer_read(f, "other", "2036-01-01T00:00:00.000000Z");
    world_expect(&f->w, WRITE);
    CLEANUP_JSON json_t *sent = world_body(&f->w, 0);
    assert_string_equal(json_str(sent, "spec.holderIdentity"), "me");
    assert_int_equal(json_int(sent, "spec.leaseTransitions", 0), 4);
    /* what we do not know stays */
    assert_string_equal(json_str(sent, "spec.strategy"), "OldestEmulationVersion");
    CLEANUP_FREE char *rv = xasprintf("%d", f->rv);
    /* whoever writes first wins */
    assert_string_equal(json_str(sent, "metadata.resourceVersion"), rv);
    accept_write(f);
    world_expect_said(&f->w, "leading");
}

static void renewal_is_one_write(void **state)
{
    struct fixture *f = *state;
    lead(f);
    for (int i = 0; i < 100; i++) {
        world_expect(&f->w, "");
        world_pass(&f->w, 2000);
        world_expect(&f->w, WRITE);
        accept_write(f);
        assert_int_equal(lease_write_fence(f->lease), f->w.now_ms + 10000);
    }
    world_expect_said(&f->w, "");
    assert_int_equal(f->w.submitted, 2 + 100);
}

static void fence_counts_from_the_sending(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    int64_t sent_ms = f->w.now_ms;
    world_pass(&f->w, 4000);
    accept_write(f);
    assert_int_equal(lease_write_fence(f->lease), sent_ms + 10000);
}

static void failed_renewals_suspend_at_the_fence(void **state)
{
    struct fixture *f = *state;
    lead(f);
    int64_t fence_ms = lease_write_fence(f->lease);
    world_pass(&f->w, 2000);
    while (f->w.now_ms < fence_ms - 1000) {
        world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
        world_pass(&f->w, 1000);
    }
    assert_string_equal(lease_problem(f->lease),
                        "cannot write lease ns/ostler: connection refused");
    world_pass(&f->w, fence_ms - 1 - f->w.now_ms);
    assert_true(may_write(f));
    world_expect_said(&f->w, "");
    world_pass(&f->w, 1);
    assert_false(may_write(f));
    assert_false(lease_is_leading(f->lease));
    world_expect_said(&f->w, "suspended");
    world_pass(&f->w, 60000);
    world_expect_said(&f->w, "");
}

static void suspended_leader_leads_again_when_no_other_does(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    world_break(&f->w, 0, 0, ERR_TIMEOUT, "no answer in 5 s");
    world_pass(&f->w, 1000);
    world_break(&f->w, 0, 0, ERR_TIMEOUT, "no answer in 5 s");
    world_jump(&f->w, 20000);
    world_pass(&f->w, 0);
    world_expect_said(&f->w, "suspended");
    world_pass(&f->w, 1000);
    answer_read(f, "me", "2026-11-20T10:00:01.000000Z");
    assert_false(may_write(f));
    accept_write(f);
    world_expect_said(&f->w, "leading");
    assert_true(may_write(f));
    assert_null(lease_problem(f->lease));
}

static void lost_when_another_holds_it(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    world_expect_said(&f->w, "suspended");
    assert_false(lease_is_leading(f->lease));
    assert_false(may_write(f)); /* though the fence has not been reached */
    answer_read(f, "other", "2026-11-20T10:00:02.000000Z");
    world_expect_said(&f->w, "lost");
    assert_false(lease_is_leading(f->lease));
    assert_false(may_write(f));
    world_expect(&f->w, "");
}

static void conflict_with_our_own_write(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    world_break(&f->w, 0, 0, ERR_TIMEOUT, "the answer was lost, not the write");
    world_pass(&f->w, 1000);
    int64_t fence_ms = lease_write_fence(f->lease);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    world_expect_said(&f->w, "suspended");
    assert_false(may_write(f));
    answer_read(f, "me", "2026-11-20T10:00:02.000000Z");
    /* with the answer to the look, not with the one to the next renewal */
    world_expect_said(&f->w, "leading");
    assert_int_equal(lease_write_fence(f->lease), fence_ms);
    world_expect(&f->w, WRITE);
    accept_write(f);
    world_expect_said(&f->w, "");
    assert_true(may_write(f));
}

/* Another replica may have taken it since it went. */
static void suspended_while_it_is_gone(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    world_reply(&f->w, 0, 404, "{'reason': 'NotFound', 'message': 'no lease'}");
    world_turn(&f->w);
    world_expect_said(&f->w, "suspended");
    world_expect(&f->w, READ);
    world_reply(&f->w, 0, 404, "{'reason': 'NotFound', 'message': 'no lease'}");
    world_turn(&f->w);
    world_expect(&f->w, CREATE);
    world_expect_said(&f->w, "");
    assert_false(may_write(f));
    accept_write(f);
    world_expect_said(&f->w, "leading");
    assert_null(lease_problem(f->lease));
}

/* A look that fails tells nothing: the next one comes a second later, and no renewal before it. */
static void doubt_lasts_until_the_lease_is_read(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    world_pass(&f->w, 1000);
    world_expect_said(&f->w, "suspended");
    assert_false(may_write(f));
    answer_read(f, "me", "2026-11-20T10:00:02.000000Z");
    world_expect_said(&f->w, "leading");
}

/* SIGSTOP for longer than the lease, with the renewal's answer waiting on the socket: the answer is
 * older than the fence. */
static void late_answer_does_not_move_the_fence(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_pass(&f->w, 2000);
    world_jump(&f->w, 60000);
    accept_write(f);
    assert_false(may_write(f));
    assert_false(lease_is_leading(f->lease));
    world_pass(&f->w, 0);
    world_expect_said(&f->w, "suspended");
    answer_read(f, "other", "2026-11-20T10:00:40.000000Z");
    world_expect_said(&f->w, "lost");
    assert_false(may_write(f));
}

/* The same, stopped between two renewals: not even the lease is written before it was read again.
 */
static void leader_that_slept_looks_first(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_jump(&f->w, 60000);
    world_pass(&f->w, 0);
    world_expect_said(&f->w, "suspended");
    assert_false(may_write(f));
    answer_read(f, "other", "2026-11-20T10:00:40.000000Z");
    world_expect_said(&f->w, "lost");
    world_expect(&f->w, "");
}

static void acquired_too_late_to_be_of_use(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    answer_read(f, "", "2026-11-20T09:00:00.000000Z");
    world_jump(&f->w, 10000);
    accept_write(f);
    world_expect_said(&f->w, "");
    assert_false(may_write(f));
    world_pass(&f->w, 0);
    answer_read(f, "me", "2026-11-20T10:00:01.000000Z");
    accept_write(f);
    world_expect_said(&f->w, "leading");
}

static void problems_have_a_sentence_until_they_are_over(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    world_reply(&f->w, 0, 403, "{'message': 'no right to get leases'}");
    world_pass(&f->w, 1000);
    assert_string_equal(lease_problem(f->lease),
                        "cannot read lease ns/ostler: HTTP 403: no right to get leases");
    answer_read(f, "", "2026-11-20T09:00:00.000000Z");
    assert_null(lease_problem(f->lease));
    world_reply(&f->w, 0, 200, "<html>");
    world_turn(&f->w);
    assert_non_null(strstr(lease_problem(f->lease), "cannot write lease ns/ostler: not JSON"));
    world_expect_said(&f->w, "");
    world_pass(&f->w, 1000);
    answer_read(f, "me", "2026-11-20T10:00:01.000000Z");
    accept_write(f);
    world_expect_said(&f->w, "leading");
    assert_null(lease_problem(f->lease));
}

static void released_at_the_end(void **state)
{
    struct fixture *f = *state;
    lead(f);
    lease_release(f->lease, on_released, f);
    assert_false(may_write(f)); /* from here on, not when the server has heard of it */
    world_expect(&f->w, WRITE);
    CLEANUP_JSON json_t *sent = world_body(&f->w, 0);
    assert_string_equal(json_str(sent, "spec.holderIdentity"), "");
    assert_int_equal(json_int(sent, "spec.leaseDurationSeconds", 0), 1);
    world_expect_said(&f->w, "");
    accept_write(f);
    world_expect_said(&f->w, "released");
    world_pass(&f->w, 60000);
    world_expect_said(&f->w, "");
    world_expect(&f->w, "");
}

/* The write that is open gives the lease back, and names the version that the server has. */
static void expect_release(struct fixture *f)
{
    CLEANUP_FREE char *rv = xasprintf("%d", f->rv);
    world_expect(&f->w, WRITE);
    CLEANUP_JSON json_t *sent = world_body(&f->w, 0);
    assert_string_equal(json_str(sent, "spec.holderIdentity"), "");
    assert_string_equal(json_str(sent, "metadata.resourceVersion"), rv);
    assert_false(may_write(f));
    accept_write(f);
    world_expect_said(&f->w, "released");
    world_pass(&f->w, 60000);
    world_expect(&f->w, "");
}

static void release_in_the_middle_of_a_renewal(struct fixture *f)
{
    lead(f);
    world_pass(&f->w, 2000);
    lease_release(f->lease, on_released, f);
    assert_false(may_write(f));
    world_expect(&f->w, WRITE); /* the renewal */
    world_expect_said(&f->w, "");
}

static void released_after_a_renewal(void **state)
{
    struct fixture *f = *state;
    release_in_the_middle_of_a_renewal(f);
    accept_write(f);
    world_expect_said(&f->w, "");
    expect_release(f);
}

/* Whether a renewal without an answer has arrived is known only by looking. */
static void released_after_a_renewal_whose_answer_is_lost(void **state)
{
    struct fixture *f = *state;
    release_in_the_middle_of_a_renewal(f);
    world_break(&f->w, 0, 0, ERR_TIMEOUT, "the answer was lost, not the write");
    world_turn(&f->w);
    answer_read(f, "me", "2026-11-20T10:00:02.000000Z");
    expect_release(f);
}

static void released_after_a_conflict(void **state)
{
    struct fixture *f = *state;
    lead(f);
    lease_release(f->lease, on_released, f);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    answer_read(f, "me", "2026-11-20T10:00:02.000000Z");
    expect_release(f);
}

static void release_finds_another_holder(void **state)
{
    struct fixture *f = *state;
    release_in_the_middle_of_a_renewal(f);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    answer_read(f, "other", "2026-11-20T10:00:02.000000Z");
    world_expect_said(&f->w, "released");
    world_expect(&f->w, "");
}

static void release_gives_up_when_the_server_is_away(void **state)
{
    struct fixture *f = *state;
    release_in_the_middle_of_a_renewal(f);
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    world_turn(&f->w);
    world_expect(&f->w, READ);
    world_expect_said(&f->w, "");
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    world_turn(&f->w);
    world_expect_said(&f->w, "released");
    world_expect(&f->w, "");
}

/* A candidate that is just becoming the leader. */
static void released_while_it_is_acquired(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    answer_read(f, "", "2026-11-20T09:00:00.000000Z");
    lease_release(f->lease, on_released, f);
    accept_write(f);
    world_expect_said(&f->w, "");
    expect_release(f);
}

/* Late by the fence, but no other replica has taken it: the next one need not wait. */
static void released_while_suspended(void **state)
{
    struct fixture *f = *state;
    lead(f);
    world_jump(&f->w, 12000);
    world_pass(&f->w, 0);
    world_expect_said(&f->w, "suspended");
    lease_release(f->lease, on_released, f);
    answer_read(f, "me", "2026-11-20T10:00:01.000000Z");
    expect_release(f);
}

/* The deletion that is open names the version that the server has. */
static void expect_removal(struct fixture *f)
{
    CLEANUP_FREE char *rv = xasprintf("%d", f->rv);
    world_expect(&f->w, REMOVE);
    CLEANUP_JSON json_t *sent = world_body(&f->w, 0);
    assert_string_equal(json_str(sent, "preconditions.resourceVersion"), rv);
    assert_false(may_write(f));
}

static void removed_at_the_end(void **state)
{
    struct fixture *f = *state;
    lead(f);
    lease_remove(f->lease, on_released, f);
    expect_removal(f);
    world_reply(&f->w, 0, 200, "{'kind': 'Status', 'status': 'Success'}");
    world_turn(&f->w);
    world_expect_said(&f->w, "released");
    world_pass(&f->w, 60000);
    world_expect(&f->w, "");
}

static void removed_in_the_version_that_is_there(void **state)
{
    struct fixture *f = *state;
    lead(f);
    lease_remove(f->lease, on_released, f);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    answer_read(f, "me", "2026-11-20T10:00:02.000000Z");
    expect_removal(f);
}

static void not_removed_when_another_has_taken_it(void **state)
{
    struct fixture *f = *state;
    lead(f);
    lease_remove(f->lease, on_released, f);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'changed'}");
    world_turn(&f->w);
    answer_read(f, "other", "2026-11-20T10:00:02.000000Z");
    world_expect_said(&f->w, "released");
    world_expect(&f->w, "");
}

static void given_back_where_it_may_not_be_removed(void **state)
{
    struct fixture *f = *state;
    lead(f);
    lease_remove(f->lease, on_released, f);
    world_reply(&f->w, 0, 403, "{'reason': 'Forbidden', 'message': 'may not'}");
    world_turn(&f->w);
    expect_release(f);
}

/* Whoever waits for the release may stop waiting. */
static void freed_while_it_is_given_back(void **state)
{
    struct fixture *f = *state;
    release_in_the_middle_of_a_renewal(f);
    lease_free(TAKE(f->lease));
    world_expect(&f->w, "");
    world_expect_said(&f->w, "");
}

static void nothing_to_release(void **state)
{
    struct fixture *f = *state;
    lease_start(f->lease);
    lease_release(f->lease, on_released, f);
    world_expect_said(&f->w, "released");
    world_expect(&f->w, "");
}

int main(void)
{
    static const struct suite_check rows[] = {
        { "the first one creates it", first_one_creates_it },
        { "two create it at once: the second waits", two_create_it_at_once },
        { "a candidate waits while another renews", candidate_waits_while_others_renew },
        { "a candidate takes over what is not renewed for 15 s",
          candidate_takes_over_what_is_not_renewed },
        { "the read that finds the holder gone has a time",
          read_that_finds_the_holder_gone_has_a_time },
        { "before the first lease there is no holder", before_the_first_lease_there_is_no_holder },
        { "a lease of our own has no holder before", own_lease_has_no_holder_before },
        { "a renewal is one write", renewal_is_one_write },
        { "the fence counts from the sending, not from the answer", fence_counts_from_the_sending },
        { "failed renewals suspend at the fence", failed_renewals_suspend_at_the_fence },
        { "a suspended leader leads again when no other replica does",
          suspended_leader_leads_again_when_no_other_does },
        { "lost when another holds it", lost_when_another_holds_it },
        { "a conflict with our own write whose answer was lost", conflict_with_our_own_write },
        { "a lease that is gone suspends until it is made again", suspended_while_it_is_gone },
        { "a doubt lasts until the lease is read", doubt_lasts_until_the_lease_is_read },
        { "a late answer does not move the fence", late_answer_does_not_move_the_fence },
        { "a leader that slept looks before it writes", leader_that_slept_looks_first },
        { "acquired too late to be of use", acquired_too_late_to_be_of_use },
        { "problems have a sentence until they are over",
          problems_have_a_sentence_until_they_are_over },
        { "released at the end", released_at_the_end },
        { "released after a renewal that was on its way", released_after_a_renewal },
        { "released after a renewal whose answer is lost",
          released_after_a_renewal_whose_answer_is_lost },
        { "released after a conflict", released_after_a_conflict },
        { "removed at the end", removed_at_the_end },
        { "removed in the version that is there", removed_in_the_version_that_is_there },
        { "not removed when another has taken it", not_removed_when_another_has_taken_it },
        { "given back where it may not be removed", given_back_where_it_may_not_be_removed },
        { "a release that finds another holder ends there", release_finds_another_holder },
        { "a release gives up when the server is away", release_gives_up_when_the_server_is_away },
        { "released while it is acquired", released_while_it_is_acquired },
        { "released while suspended", released_while_suspended },
        { "freed while it is given back", freed_while_it_is_given_back },
        { "nothing to release", nothing_to_release },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "lease");
}
