/* Whether containers start and the node would be Ready after the runtime's configuration changed.
 * The runtime is a list of what it answers, one look after the other. */
#include "node/operand/runtime_proof.h"

#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/wire.h"
#include "tests/unit/support/suite.h"

enum { LOOKS_MAX = 4, CALLS_MAX = 1024 };

/* What a runtime does while it is as it is. The last one of a row stays. */
struct state {
    const char *no_status; /* why it gives none; NULL: it does */
    bool not_ready, no_network;
    const char *slices_only;  /* it starts sandboxes below a slice only, and says this otherwise */
    const char *no_container; /* why none starts */
    const char *no_handler;   /* why none starts with a handler */
};

struct runtime {
    const struct state *states;
    size_t count, at; /* one for each status that it is asked for */
    char calls[CALLS_MAX];
};

#define CGROUPS "expected cgroupsPath to be of format \"slice:prefix:name\" for systemd cgroups"

static const struct row {
    const char *name;
    struct state states[LOOKS_MAX];
    size_t count;
    const char *error; /* NULL: none */
    /* of all looks: S status, a sandbox is R or, with the handler, H; failed ones are small */
    const char *calls;
} rows[] = {
    { "all is as before", { { 0 } }, 1, NULL, "SR SRH" },
    { "containers need a slice", { { .slices_only = CGROUPS } }, 1, NULL, "SrR SRH" },
    { "no container starts after the change",
      { { 0 }, { .no_container = "shim is gone" } },
      2,
      "no container starts with the runtime's handler by default: shim is gone",
      NULL },
    { "none starts with what the change has added",
      { { 0 }, { .no_handler = "no runtime for \"nvidia\" is configured" } },
      2,
      "no container starts with the runtime's handler nvidia: no runtime for \"nvidia\" is "
      "configured",
      NULL },
    { "the network is gone",
      { { 0 }, { .no_network = true } },
      2,
      "NetworkReady of the container runtime is False, and the node would not be Ready: it is not",
      NULL },
    { "the runtime is not ready",
      { { 0 }, { .not_ready = true } },
      2,
      "RuntimeReady of the container runtime is False, and the node would not be Ready: it is not",
      NULL },
    { "it comes back after a while",
      { { 0 }, { .no_status = "starting" }, { .no_network = true }, { 0 } },
      4,
      NULL,
      "SR s S SRH" },
    { "the network was not there before", { { .no_network = true } }, 1, NULL, "SR SRH" },
    { "no container started before", { { .no_container = "no image" } }, 1, NULL, "Srr S" },
    { "the runtime has no such interface",
      { { .no_status = "unknown service runtime.v1.RuntimeService" } },
      1,
      NULL,
      "s" },
    { "it does not answer again",
      { { 0 }, { .no_status = "no server answers" } },
      2,
      "no server answers",
      NULL },
};

static bool is_text(struct wire_rest message, uint32_t field, const char *text)
{
    struct wire_field f;
    assert_true(wire_find(message, field, &f));
    return f.bytes.len == strlen(text) &&
           memcmp(f.bytes.at ? f.bytes.at : (const unsigned char *) "", text, f.bytes.len) == 0;
}

static struct wire_rest part(struct wire_rest message, uint32_t field)
{
    struct wire_field f;
    assert_true(wire_find(message, field, &f));
    return f.bytes;
}

static void note(struct runtime *r, char c)
{
    size_t len = strlen(r->calls);
    if (len < CALLS_MAX - 1)
        r->calls[len] = c;
}

static int answer_status(struct runtime *r, const struct state *s, struct buf *answer,
                         struct err *e)
{
    note(r, s->no_status ? 's' : 'S');
    if (s->no_status)
        return err_set(e, ERR_NOT_FOUND, "%s", s->no_status);
    CLEANUP_BUF struct buf status = BUF_INIT(CRI_REQUEST_MAX);
    for (enum cri_condition i = 0; i < CRI_CONDITIONS; i++) {
        bool is_true = i == CRI_RUNTIME_READY ? !s->not_ready : !s->no_network;
        CLEANUP_BUF struct buf condition = BUF_INIT(CRI_REQUEST_MAX);
        assert_true(wire_add_text(&condition, 1, cri_condition_name(i)) &&
                    wire_add_number(&condition, 2, is_true) &&
                    wire_add_text(&condition, 4, is_true ? "" : "it is not") &&
                    wire_add_message(&status, 1, &condition));
    }
    return wire_add_message(answer, 1, &status) ? 0 : -1;
}

static int answer_sandbox(struct runtime *r, const struct state *s, const struct buf *request,
                          struct buf *answer, struct err *e)
{
    struct wire_rest whole = { (const unsigned char *) request->data, request->len };
    struct wire_rest linux_part = part(part(whole, 1), 8);
    bool by_default = is_text(whole, 2, ""), has_slice = is_text(linux_part, 1, "system.slice");
    const char *why = s->slices_only && !has_slice ? s->slices_only : s->no_container;
    why = why ? why : by_default ? NULL : s->no_handler;
    note(r, by_default ? (why ? 'r' : 'R') : (why ? 'h' : 'H'));
    return why ? err_set(e, ERR_SERVER, "%s", why) : wire_add_text(answer, 1, "sandbox-1") ? 0 : -1;
}

static int answer(void *arg, const char *method, const struct buf *request, int64_t limit_ms,
                  struct buf *ret, struct err *e)
{
    struct runtime *r = arg;
    const char *name = strrchr(method, '/') + 1;
    assert_true(limit_ms > 0);
    if (str_eq(name, "Status") && *r->calls)
        note(r, ' ');
    if (str_eq(name, "Status") && *r->calls && r->at + 1 < r->count)
        r->at++;
    if (str_eq(name, "Status"))
        return answer_status(r, &r->states[r->at], ret, e);
    if (str_eq(name, "RunPodSandbox"))
        return answer_sandbox(r, &r->states[r->at], request, ret, e);
    assert_true(is_text((struct wire_rest){ (const unsigned char *) request->data, request->len },
                        1, "sandbox-1"));
    return 0;
}

static void check(void **state)
{
    const struct row *row = *state;
    struct runtime runtime = { .states = row->states, .count = row->count };
    const struct cri cri = { .call = answer, .arg = &runtime };
    /* Time for as many looks as a row has, and no more: one look a second. */
    struct runtime_proof proof = {
        .cri = &cri, .handler = "nvidia", .name = "pod-1", .limit_ms = row->error ? 1 : 10 * 1000
    };
    CLEANUP_ERR struct err e = { 0 };
    runtime_proof_begin(&proof);
    int rc = runtime_proof_end(&proof, &e);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    if (row->calls)
        assert_string_equal(runtime.calls, row->calls);
}

static void without_a_way_to_ask_nothing_is_proven(void **state)
{
    (void) state;
    struct runtime_proof proof = { .handler = "nvidia", .name = "pod-1", .limit_ms = 1 };
    CLEANUP_ERR struct err e = { 0 };
    runtime_proof_begin(&proof);
    assert_int_equal(runtime_proof_end(&proof, &e), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "without a way to ask nothing is proven", without_a_way_to_ask_nothing_is_proven,
              NULL);
    return suite_run(&s, "the proof of a runtime");
}
