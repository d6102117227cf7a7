#include "reconcilers/model/pod_whole.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NS "ostler-operands"
#define OWNERS "'ownerReferences':[{'kind':'X','uid':'d'},{'kind':'DaemonSet','controller':true}]"
#define LABELS(component)                                                                          \
    "'labels':{'app.kubernetes.io/managed-by':'ostler','app.kubernetes.io/component':'" component  \
    "','ostler.dev/revision':'h'}"
#define META(rest)                                                                                 \
    "'metadata':{'name':'p','namespace':'" NS "','uid':'u1','resourceVersion':'7',\
'creationTimestamp':'2026-11-20T10:17:43Z'," rest "}"
#define SPEC "'spec':{'containers':[{'image':'x'}],'nodeName':'n'}"
#define READY                                                                                      \
    "'conditions':[{'type':'PodScheduled','status':'True'},{'type':'Ready','status':'True'}]"
#define STATUS(rest) "'status':{'phase':'Running'," rest "}"
#define UP(component) "{" META(LABELS(component) "," OWNERS) "," SPEC "," STATUS(READY) "}"
#define USERS(meta, spec)                                                                          \
    "{'metadata':{'name':'p','namespace':'ml','uid':'u1'" meta "},'spec':{" spec "}}"
#define ON(node) "'nodeName':'" node "'"

/* What is told of a pod. */
enum told { NOTHING, NO_RECORD, RECORD };

static const struct row {
    const char *name, *text;
    enum told told;
} rows[] = {
    { "an operand's pod that is up", UP("device-plugin"), RECORD },
    { "a driver's pod that is up", UP("driver"), RECORD },
    { "in another order, with other members",
      "{'kind':'Pod','status':{'qosClass':'x','phase':'Running'," READY "}," SPEC
      "," META("'managedFields':[{'a':'\\''}],'annotations':{'b':'\\n'}," OWNERS
               "," LABELS("exporter")) "}",
      RECORD },
    { "without a revision",
      "{" META("'labels':{'app.kubernetes.io/managed-by':'ostler',"
               "'app.kubernetes.io/component':'exporter'}," OWNERS) "," SPEC "," STATUS(READY) "}",
      RECORD },
    { "of no operand", UP("other"), NOTHING },
    { "of another manager",
      "{" META("'labels':{'app.kubernetes.io/managed-by':'helm',"
               "'app.kubernetes.io/component':'driver'}," OWNERS) "," SPEC "," STATUS(READY) "}",
      NOTHING },
    { "without a controller", "{" META(LABELS("driver")) "," SPEC "," STATUS(READY) "}", NOTHING },
    { "with an owner that does not control it",
      "{" META(LABELS(
          "driver") ",'ownerReferences':[{'controller':false},{'kind':'true'}]") "," SPEC
                                                                                 "," STATUS(
                                                                                     READY) "}",
      NOTHING },
    { "that is being deleted",
      "{" META(LABELS(
          "driver") ",'deletionTimestamp':'2026-11-20T10:17:43Z'," OWNERS) "," SPEC
                                                                           "," STATUS(READY) "}",
      NOTHING },
    { "that is not ready",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC "," STATUS(
          "'conditions':[{'type':'Ready','status':'False'},{'type':'Ready','status':'True'}]") "}",
      NOTHING },
    { "without conditions",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC ",'status':{'phase':"
                                            "'Running'}}",
      NOTHING },
    { "that has ended",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC ",'status':{'phase':'Failed'," READY "}}",
      NOTHING },
    { "that is not bound", "{" META(LABELS("driver") "," OWNERS) ",'spec':{}," STATUS(READY) "}",
      NOTHING },
    { "whose init container left a message",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC "," STATUS(
          READY ",'initContainerStatuses':[{'state':{'terminated':{'message':'x'}}}]") "}",
      NOTHING },
    { "whose init container may have left one",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC "," STATUS(
          READY ",'initContainerStatuses':[{'m\\u0065ssage':'x'}]") "}",
      NOTHING },
    { "whose init container left none",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC "," STATUS(
          READY ",'initContainerStatuses':[{'state':{'terminated':{'exitCode':0}}}]") "}",
      RECORD },
    { "with two phases",
      "{" META(LABELS("driver") "," OWNERS) "," SPEC "," STATUS("'phase':'Failed'," READY) "}",
      NOTHING },
    { "another user's pod", USERS("", ON("a")), NO_RECORD },
    { "another user's pod that is not bound", USERS("", ""), NO_RECORD },
    { "another user's, as an operand's",
      "{'metadata':{'name':'p','namespace':'ml','uid':'u1'," LABELS("driver") "," OWNERS "}," SPEC
                                                                              "," STATUS(READY) "}",
      NO_RECORD },
    { "a vendor's word, a name and an escape in what is not read",
      USERS(",'annotations':{'nvidia':'\\''},'managedFields':[{'f:nvidia.com/gpu':'\\n'}]",
            ON("a")),
      NO_RECORD },
    { "the same, the other way round",
      USERS(",'managedFields':[{'f:nvidia.com/gpu':'\\n'}],'annotations':{'nvidia':'\\''}",
            ON("a")),
      NO_RECORD },
    { "a request for a GPU",
      USERS("", "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]"), NOTHING },
    { "a request for a GPU after what is not read",
      USERS(",'annotations':{},'managedFields':[]",
            "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]"),
      NOTHING },
    { "a vendor's label between what is not read",
      USERS(",'annotations':{},'labels':{'a':'nvidia'},'managedFields':[]", ON("a")), NOTHING },
    { "a vendor's label before what is not read",
      USERS(",'labels':{'a':'nvidia'},'managedFields':[]", ON("a")), NOTHING },
    { "a claim of a device", USERS("", "'resourceClaims':[{'name':'gpu'}]"), NOTHING },
    { "an escape, which may hide a name", USERS("", "'hostname':'\\u006evidia'"), NOTHING },
    { "a holder of a GPU",
      "{'metadata':{'name':'p','namespace':'ml','uid':'u2'},'spec':{" ON("b") "}}", NOTHING },
    { "another pod on the holder's node", USERS("", ON("b")), NO_RECORD },
    { "a pod with the holder's uid on another node",
      "{'metadata':{'name':'p','namespace':'ml','uid':'u2'},'spec':{" ON("a") "}}", NO_RECORD },
    { "a node that is no text", USERS("", "'nodeName':1"), NOTHING },
    { "a pod on a node without a uid",
      "{'metadata':{'name':'p','namespace':'ml'},'spec':{" ON("b") "}}", NOTHING },
    { "no namespace", "{'metadata':{'name':'p','uid':'u1'},'spec':{}}", NOTHING },
    { "no name", "{'metadata':{'namespace':'ml','uid':'u1'},'spec':{}}", NOTHING },
    { "no JSON", "{'metadata'", NOTHING },
};

/* The pod u2 holds a GPU of node b. */
static bool holds(const void *arg, const char *node, uint64_t uid)
{
    (void) arg;
    return str_eq(node, "b") && uid == str_hash_id("u2");
}

static void check(void **state)
{
    const struct row *row = *state;
    static const struct pod_text_asks asks = { NS, holds, NULL };
    struct intern *in = intern_new();
    struct pod_whole whole;
    CLEANUP_FREE char *text = json_quoted(row->text);
    bool read = pod_whole_read(in, &asks, text, strlen(text), &whole);
    assert_int_equal(!read ? NOTHING : whole.pod ? RECORD : NO_RECORD, row->told);
    json_t *object = json_parse_stored(text, strlen(text), NULL);
    struct pod *parsed = object ? pod_project(in, NS, NULL, object) : NULL;
    if (read) {
        assert_string_equal(whole.key, whole.pod ? NS "/p" : "ml/p");
        assert_int_equal(whole.pod != NULL, parsed != NULL);
    }
    if (read && whole.pod) {
        assert_true(pod_same(whole.pod, parsed));
        assert_true(record_same_uid(&whole.pod->head, &parsed->head));
        assert_string_equal(whole.pod->head.key, parsed->head.key);
        assert_int_equal(whole.pod->head.rv, 7);
        assert_int_equal(whole.pod->made_s, parsed->made_s);
        assert_int_equal(whole.pod->component, parsed->component);
        pod_free(in, whole.pod);
    }
    if (parsed)
        pod_free(in, parsed);
    json_decref(object);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "pod_whole");
}
