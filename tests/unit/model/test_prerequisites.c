/* What Ostler stands on: what is wrong with it, in a sentence that says what to do. */
#include "reconcilers/model/prerequisites.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* The needed schema and its neighbours. */
#define NEEDED "@"
#define OLDER "@-"
#define NEWER "@+"

static const struct row {
    const char *name;
    enum prerequisite part;
    const char *answer; /* NULL: there is no such object */
    const char *reason; /* NULL: nothing is wrong */
    const char *words;  /* of the sentence */
    bool stops;
} rows[] = {
    { "the oldest server that will do", PREREQUISITES_SERVER,
      "{'major':'1','minor':'30','gitVersion':'v1.30.0'}", NULL, NULL, false },
    { "a server of tomorrow", PREREQUISITES_SERVER,
      "{'major':'2','minor':'0','gitVersion':'v2.0.0'}", NULL, NULL, false },
    { "a cloud's server", PREREQUISITES_SERVER,
      "{'major':'1','minor':'31+','gitVersion':'v1.31.2-gke.7'}", NULL, NULL, false },
    { "a server that is too old", PREREQUISITES_SERVER,
      "{'major':'1','minor':'29','gitVersion':'v1.29.4'}", "ApiServerTooOld",
      "v1.29.4; Ostler needs 1.30", true },
    { "a cloud's server that is too old", PREREQUISITES_SERVER,
      "{'major':'1','minor':'27+','gitVersion':'v1.27.16-eks'}", "ApiServerTooOld",
      "ValidatingAdmissionPolicies", true },
    { "a definition of policies that fits", PREREQUISITES_POLICIES, NEEDED, NULL, NULL, false },
    { "a definition of policies that is newer", PREREQUISITES_POLICIES, NEWER, NULL, NULL, false },
    { "a definition of policies that is older", PREREQUISITES_POLICIES, OLDER, "CRDOutdated",
      "gpuclusterpolicies.ostler.dev is older", true },
    { "a definition of policies without a number", PREREQUISITES_POLICIES,
      "{'metadata':{'name':'x'}}", "CRDOutdated", "kubectl apply --server-side", true },
    { "a definition of policies with a word for a number", PREREQUISITES_POLICIES,
      "{'metadata':{'annotations':{'ostler.dev/schema':'new'}}}", "CRDOutdated", "schema new",
      true },
    { "no definition of policies", PREREQUISITES_POLICIES, NULL, "CRDMissing",
      "gpuclusterpolicies.ostler.dev is missing", false },
    { "a definition of reports that is older", PREREQUISITES_REPORTS, OLDER, "CRDOutdated",
      "everything else works", false },
    { "no definition of reports", PREREQUISITES_REPORTS, NULL, "CRDMissing",
      "gpunodes.ostler.dev is missing", false },
    { "a namespace that says nothing of pods", PREREQUISITES_NAMESPACE,
      "{'metadata':{'name':'ops'}}", NULL, NULL, false },
    { "a namespace that lets drivers in", PREREQUISITES_NAMESPACE,
      "{'metadata':{'labels':{'pod-security.kubernetes.io/enforce':'privileged'}}}", NULL, NULL,
      false },
    { "a namespace that lets no driver in", PREREQUISITES_NAMESPACE,
      "{'metadata':{'labels':{'pod-security.kubernetes.io/enforce':'baseline'}}}",
      "NamespaceRestricted",
      "kubectl label namespace ops pod-security.kubernetes.io/enforce=privileged --overwrite",
      false },
    { "no namespace", PREREQUISITES_NAMESPACE, NULL, "NamespaceMissing",
      "kubectl create namespace ops", false },
    { "a namespace that goes", PREREQUISITES_NAMESPACE,
      "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}", "NamespaceMissing",
      "ops is being deleted", false },
};

static json_t *answer_of(const struct row *row)
{
    if (!row->answer || row->answer[0] == '{')
        return row->answer ? tree(row->answer) : NULL;
    int number = PREREQUISITES_SCHEMA + (row->answer[1] == '+') - (row->answer[1] == '-');
    return json_pack("{s:{s:{s:o}}}", "metadata", "annotations", ANNOTATION_SCHEMA,
                     json_textf("%d", number));
}

static void check_row(void **state)
{
    const struct row *row = *state;
    struct prerequisites s = { 0 };
    CLEANUP_JSON json_t *answer = answer_of(row);
    assert_int_equal(prerequisites_take(&s, row->part, answer, "ops"), row->reason != NULL);
    assert_false(prerequisites_take(&s, row->part, answer, "ops")); /* the same again is no news */
    const struct prerequisite_problem *p = prerequisites_of(&s, row->part);
    assert_ptr_equal(p, prerequisites_worst(&s));
    assert_int_equal(p != NULL, row->reason != NULL);
    assert_int_equal(prerequisites_blocking(&s, true) != NULL, row->stops);
    if (p) {
        assert_string_equal(reason_text(p->reason), row->reason);
        assert_non_null(strstr(p->message, row->words));
        assert_true(prerequisites_forget(&s, row->part));
    }
    assert_null(prerequisites_worst(&s));
    prerequisites_clear(&s);
}

static void a_namespace_is_why_watches_fail(void **state)
{
    (void) state;
    struct prerequisites s = { 0 };
    prerequisites_take(&s, PREREQUISITES_NAMESPACE, NULL, "ops");
    assert_null(prerequisites_blocking(&s, true));
    assert_non_null(prerequisites_blocking(&s, false));
    prerequisites_clear(&s);
}

/* What crds/ says is what the program needs. */
static void the_definitions_fit_the_program(void **state)
{
    static const char *const files[] = { "crds/ostler.dev_gpuclusterpolicies.yaml",
                                         "crds/ostler.dev_gpunodes.yaml" };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CLEANUP_JSON json_t *documents = yaml_parse_file(files[i], NULL, NULL);
        CLEANUP_FREE char *needed = xasprintf("%d", PREREQUISITES_SCHEMA);
        assert_string_equal(object_annotation(json_array_get(documents, 0), ANNOTATION_SCHEMA),
                            needed);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "a namespace that is gone is why watches fail", a_namespace_is_why_watches_fail,
              NULL);
    suite_add(&s, "the definitions fit the program", the_definitions_fit_the_program, NULL);
    return suite_run(&s, "surroundings");
}
