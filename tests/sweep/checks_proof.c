/* Whether nodes are opened only when they are proven. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/proof.h"
#include "tests/sweep/checks.h"

/* A node whose repair has failed is given up, and stays closed for its fault. */
static bool is_closed(const json_t *node)
{
    return check_is_closed(node) || check_has_taint(node, TAINT_STARTUP) ||
           check_has_taint(node, TAINT_UNHEALTHY);
}

/* Closed for what it runs: it is new, or that is being changed, or was and did not come up. */
static bool is_closed_for_proof(const json_t *node)
{
    struct reading_claim claim;
    bool claimed = check_claim_of(node, &claim) && reading_closes(&claim);
    return check_has_taint(node, TAINT_STARTUP) ||
           (claimed && (reading_is_changing(&claim) || str_eq(claim.phase, "Failed")));
}

/* The policy that asks for proofs, and that Ostler acts on. */
static bool asks_for_proofs(const json_t *policy)
{
    return policy && !object_is_deleting(policy) &&
           json_bool(policy, "spec.validation.enabled", true) &&
           json_bool(policy, "spec.nodes.startupTaint.enabled", true) &&
           json_int(policy, "status.observedGeneration", -1) == object_generation(policy);
}

/* What is wrong with the proof of a node that was opened; NULL: nothing. */
static const char *wrong_of_proof(const json_t *node, const char *module)
{
    struct proof p;
    if (!proof_parse(object_annotation(node, ANNOTATION_PROOF), &p))
        return "nothing is proven";
    if (!proof_is_of(&p, assignment_of_node(node)))
        return "something else was proven";
    size_t len = strlen(p.facts.driver);
    if (p.way == PROOF_BY_POD && len && (!module || strncmp(module, p.facts.driver, len) != 0))
        return "the machine has another driver than was proven";
    return NULL;
}

void check_proven(struct invariants *v, const struct api_commit *c)
{
    struct actors_machine m = { 0 };
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after ||
        !is_closed_for_proof(c->before) || is_closed(c->after) ||
        !object_label(c->after, LABEL_STACK) || !asks_for_proofs(check_policy(v)))
        return;
    if (!actors_machine(v->run->actors, object_name(c->after), &m) || m.gpus == 0)
        return;
    check_tried(v, INVARIANT_S3_PROVEN);
    const char *wrong = wrong_of_proof(c->after, m.module);
    if (wrong)
        check_failed(v, INVARIANT_S3_PROVEN, "%s: %s", object_name(c->after), wrong);
}
