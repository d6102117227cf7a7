#include "reconcilers/model/pod_text.h"

#include <string.h>

#include "base/str.h"
#include "kube/split.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define POD(meta, spec)                                                                            \
    "{'metadata':{'name':'p','namespace':'ml','uid':'u1'" meta "},'spec':{" spec "}}"
#define ON(node) "'nodeName':'" node "'"

/* The pod u2 holds a GPU of node b. */
static bool holds(const void *arg, const char *node, uint64_t uid)
{
    (void) arg;
    return str_eq(node, "b") && uid == str_hash_id("u2");
}

static const struct row {
    const char *name, *text;
    bool matters;
} rows[] = {
    { "another user's pod", POD("", ON("a")), false },
    { "a pod that is not bound", POD("", ""), false },
    { "a pod of a DaemonSet with the host's files",
      POD(",'ownerReferences':[{'kind':'DaemonSet','uid':'d','controller':true}]",
          ON("a") ",'volumes':[{'hostPath':{'type':''}}]"),
      false },
    { "a pod in the namespace of the operands",
      "{'metadata':{'name':'p','namespace':'ostler-operands'}}", true },
    { "a request for a GPU",
      POD("", "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]"), true },
    { "a request for a slice of a GPU",
      POD("", "'initContainers':[{'resources':{'limits':{'nvidia.com/mig-1g.5gb':'1'}}}]"), true },
    { "a claim of a device", POD("", "'resourceClaims':[{'name':'gpu'}]"), true },
    { "a label of another operator's driver",
      POD(",'labels':{'app':'nvidia-driver-daemonset'}", ""), true },
    { "an image of another operator's driver",
      POD("", "'containers':[{'image':'gcr.io/cos-nvidia-installer:fixed'}]"), true },
    { "a message with an escape, which may hide a name",
      "{'metadata':{'name':'p'},'status':{'message':'\\\\u006evidia'}}", true },
    { "a message beyond ASCII", "{'metadata':{'name':'p'},'status':{'message':'\xc3\xa4'}}", true },
    { "a holder of a GPU", "{'metadata':{'uid':'u2'},'spec':{" ON("b") "}}", true },
    { "another pod on the holder's node", POD("", ON("b")), false },
    { "a pod with the holder's uid on another node",
      "{'metadata':{'uid':'u2'},'spec':{" ON("a") "}}", false },
    { "a label as the member of the node, before it",
      "{'metadata':{'labels':{'nodeName':'a'},'uid':'u2'},'spec':{" ON("b") "}}", true },
    { "a label as the member of the uid, before it",
      "{'metadata':{'labels':{'uid':'u1'},'uid':'u2'},'spec':{" ON("b") "}}", true },
    { "a node that is no text", "{'metadata':{'uid':'u1'},'spec':{'nodeName':1}}", true },
    { "a uid without an end, on the holder's node", "{'spec':{" ON("b") "},'uid':'u", true },
    { "a watch event of another user's pod", "{'type':'ADDED','object':" POD("", ON("a")) "}",
      false },
};

static bool matters(const char *text, size_t len)
{
    const struct pod_text_asks asks = { "ostler-operands", holds, NULL };
    return pod_text_matters(&asks, text, len);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    assert_int_equal(matters(text, strlen(text)), row->matters);
}

/* Owned by the caller. */
static char *with_containers(size_t count)
{
    static const char begin[] = "{\"spec\":{\"containers\":[", each[] = "{},";
    char *text = xcalloc(strlen(begin) + count * strlen(each) + sizeof "null]}}", 1), *at = text;
    at = stpcpy(at, begin);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, each);
    stpcpy(at, "null]}}");
    return text;
}

/* The view leaves out containers that may use GPUs. */
static void a_pod_with_as_many_containers_as_are_read_matters(void **state)
{
    (void) state;
    CLEANUP_FREE char *few = with_containers(SPLIT_MEMBERS_MAX - 10),
                      *most = with_containers(SPLIT_MEMBERS_MAX);
    assert_false(matters(few, strlen(few)));
    assert_true(matters(most, strlen(most)));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "a pod with as many containers as are read matters",
              a_pod_with_as_many_containers_as_are_read_matters, NULL);
    return suite_run(&s, "pod_text");
}
