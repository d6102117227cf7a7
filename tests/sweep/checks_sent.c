#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/sweep/checks.h"

static bool tests(const json_t *operations, const char *path)
{
    size_t i;
    json_t *o;
    json_array_foreach (operations, i, o)
        if (str_eq(json_str(o, "op"), "test") && str_eq(json_str(o, "path"), path))
            return true;
    return false;
}

static bool writes(const json_t *operations, const char *path)
{
    size_t i;
    json_t *o;
    json_array_foreach (operations, i, o)
        if (!str_eq(json_str(o, "op"), "test") && str_eq(json_str(o, "path"), path))
            return true;
    return false;
}

/* A change of a node names the incarnation, and one of its status no more: what is said of it rests
 * on nothing there. Taints are one list, and are written only where they are still what was read.
 */
static bool is_guarded(const json_t *body)
{
    if (json_is_object(body) && json_object_get(body, "status"))
        return json_str(body, "metadata.uid") != NULL;
    if (json_is_object(body))
        return json_str(body, "metadata.uid") && json_str(body, "metadata.resourceVersion");
    return tests(body, "/metadata/uid") &&
           (!writes(body, "/spec/taints") || tests(body, "/spec/taints"));
}

void check_identity(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    (void) c;
    bool deletes = request_deletes(r),
         node = r->resource == RESOURCE_NODE && r->class == REQUEST_WRITE;
    if (!deletes && !node)
        return;
    check_tried(v, INVARIANT_S6_IDENTITY);
    CLEANUP_JSON json_t *body = r->body ? json_parse(r->body, strlen(r->body), NULL) : NULL;
    if (deletes ? !json_str(body, "preconditions.uid") ||
                      !json_str(body, "preconditions.resourceVersion")
                : !is_guarded(body))
        check_failed(v, INVARIANT_S6_IDENTITY, "%s %s %s", r->method, r->path,
                     str_or_empty(r->body));
}

static struct client_note *note_of(struct invariants *v, const struct wire_client *c)
{
    uint64_t number = wire_client_number(c);
    for (size_t i = v->client_count; i-- > 0;)
        if (v->clients[i].number == number)
            return &v->clients[i];
    v->clients = xreallocarray(v->clients, v->client_count + 1, sizeof *v->clients);
    v->clients[v->client_count] = (struct client_note){ .number = number, .renewed_ms = -1 };
    return &v->clients[v->client_count++];
}

static void take_lease_request(struct invariants *v, const struct wire_client *c,
                               const struct request *r)
{
    struct client_note *note = note_of(v, c);
    note->pending_ms = v->run->sim.now_ms;
    if (note->holder)
        return;
    CLEANUP_JSON json_t *body = r->body ? json_parse(r->body, strlen(r->body), NULL) : NULL;
    const char *holder = json_str_or_empty(body, "spec.holderIdentity");
    note->holder = *holder ? xstrdup(holder) : NULL;
}

void check_leader(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    if (sight_is_election(r) && *r->method != 'G')
        take_lease_request(v, c, r);
    if (r->class != REQUEST_WRITE || v->run->plan->alone)
        return;
    check_tried(v, INVARIANT_S10_LEADER);
    const struct client_note *note = note_of(v, c);
    enum { RENEW_DEADLINE_MS = 10 * 1000 };
    if (note->renewed_ms < 0 || v->run->sim.now_ms >= note->renewed_ms + RENEW_DEADLINE_MS)
        check_failed(v, INVARIANT_S10_LEADER,
                     "%s sends %s %s at %lld ms, the lease was renewed at %lld ms",
                     str_or_empty(note->holder), r->method, r->path, (long long) v->run->sim.now_ms,
                     (long long) note->renewed_ms);
}

void check_leader_commit(struct invariants *v, const struct api_commit *c)
{
    const char *holder = json_str(c->after, "spec.holderIdentity");
    for (size_t i = 0; i < v->client_count; i++)
        if (str_eq(v->clients[i].holder, holder) && holder)
            v->clients[i].renewed_ms = v->clients[i].pending_ms;
}

static bool tells(const struct request *r, const char *canary)
{
    return strstr(r->path, canary) || strstr(str_or_empty(r->body), canary);
}

void check_secrets(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    (void) c;
    check_tried(v, INVARIANT_S15_SECRETS);
    bool operand = r->resource == RESOURCE_DAEMONSET || r->resource == RESOURCE_REVISION;
    if (tells(r, SECRET_CANARY) || (!operand && tells(r, POLICY_CANARY)) ||
        strstr(r->path, "/secrets"))
        check_failed(v, INVARIANT_S15_SECRETS, "%s %s", r->method, r->path);
}

/* Whoever writes has a whole and fresh view: judged by what the wire has carried, not by what the
 * client says of itself. */
void check_static(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    if (r->class != REQUEST_WRITE)
        return;
    check_tried(v, INVARIANT_S16_STATIC);
    CLEANUP_FREE char *doubt = sight_doubt(v->sight, wire_client_number(c), v->run->sim.now_ms);
    const char *lease = v->run->plan->alone ? NULL
                                            : sight_lease_doubt(v->sight, wire_client_number(c),
                                                                v->run->sim.now_ms);
    if (doubt || lease)
        check_failed(v, INVARIANT_S16_STATIC, "%s %s, but %s", r->method, r->path,
                     doubt ? doubt : lease);
}
