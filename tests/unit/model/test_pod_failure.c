/* Which pods failed before they did any work. */
#include "reconcilers/model/pod_failure.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define GPU "'spec':{'nodeName':'n','containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}"
#define CLAIMS "'spec':{'nodeName':'n','containers':[{}],'resourceClaims':[{'name':'x'}]}"
#define CPU "'spec':{'nodeName':'n','containers':[{}]}"
#define STATUS(phase, more) "'status':{'phase':'" phase "'" more "}"
#define MAIN(state) ",'containerStatuses':[{'name':'c'," state "}]"
#define INIT(state) ",'initContainerStatuses':[{'name':'i'," state "}]"
#define ENDED(of, code, from, to)                                                                  \
    "'" of "':{'terminated':{'exitCode':" code ",'reason':'Error','startedAt':'2026-11-20T" from   \
    "Z','finishedAt':'2026-11-20T" to "Z'}}"
#define UNSTARTED(reason)                                                                          \
    "'state':{'terminated':{'exitCode':128,'reason':'" reason                                      \
    "','startedAt':'1970-01-01T00:00:00Z','finishedAt':'2026-11-20T10:00:05Z'}}"
#define WAITS(reason) "'state':{'waiting':{'reason':'" reason "'}}"
#define AT(time) "2026-11-20T" time "Z"

static const struct row {
    const char *name, *spec, *status;
    bool failed;
    const char *at; /* NULL: not known */
} rows[] = {
    { "the kubelet has no GPU for it", GPU,
      STATUS("Failed", ",'reason':'UnexpectedAdmissionError','startTime':'2026-11-20T10:00:00Z'"),
      true, AT("10:00:00") },
    { "the kubelet lacks CPUs", GPU, STATUS("Failed", ",'reason':'OutOfcpu'"), false, NULL },
    { "it was evicted", GPU,
      STATUS("Failed", ",'reason':'Evicted'" MAIN(ENDED("state", "137", "10:00:00", "10:00:10"))),
      false, NULL },
    { "its program ended with an error at once", GPU,
      STATUS("Failed", MAIN(ENDED("state", "1", "10:00:00", "10:00:03"))), true, AT("10:00:03") },
    { "after a minute", GPU, STATUS("Failed", MAIN(ENDED("state", "1", "10:00:00", "10:01:00"))),
      true, AT("10:01:00") },
    { "after longer than that", GPU,
      STATUS("Failed", MAIN(ENDED("state", "1", "10:00:00", "10:01:01"))), false, NULL },
    { "well", GPU, STATUS("Running", MAIN(ENDED("state", "0", "10:00:00", "10:00:03"))), false,
      NULL },
    { "and its program runs again", GPU,
      STATUS("Running", MAIN(ENDED("lastState", "1", "10:00:00", "10:00:03"))), true,
      AT("10:00:03") },
    { "it has run twice: the last end counts", GPU,
      STATUS("Running", MAIN(ENDED("lastState", "1", "10:00:00",
                                   "10:00:03") "," ENDED("state", "1", "10:00:20", "10:00:22"))),
      true, AT("10:00:22") },
    { "no time says when it began", GPU,
      STATUS("Failed", MAIN("'state':{'terminated':{'exitCode':1}}")), false, NULL },
    { "an init container ended with an error", GPU,
      STATUS("Pending", INIT(ENDED("state", "1", "10:00:00", "10:00:03"))), false, NULL },
    { "a container could not be started", GPU, STATUS("Failed", MAIN(UNSTARTED("StartError"))),
      true, AT("10:00:05") },
    { "an init container could not be started", GPU,
      STATUS("Pending", INIT(UNSTARTED("ContainerCannotRun"))), true, AT("10:00:05") },
    { "a container cannot be made", GPU, STATUS("Pending", MAIN(WAITS("CreateContainerError"))),
      true, NULL },
    { "a container cannot be started", GPU, STATUS("Pending", MAIN(WAITS("RunContainerError"))),
      true, NULL },
    { "it cannot be started now, and has run before", GPU,
      STATUS("Pending",
             MAIN(WAITS("RunContainerError") "," ENDED("lastState", "1", "10:00:00", "10:00:03"))),
      true, NULL },
    { "its author named no Secret", GPU,
      STATUS("Pending", MAIN(WAITS("CreateContainerConfigError"))), false, NULL },
    { "its image is pulled", GPU, STATUS("Pending", MAIN(WAITS("ErrImagePull"))), false, NULL },
    { "it runs", GPU, STATUS("Running", MAIN("'state':{'running':{}}")), false, NULL },
    { "it claims a device", CLAIMS, STATUS("Pending", MAIN(WAITS("RunContainerError"))), true,
      NULL },
    { "it asks for no GPU", CPU, STATUS("Pending", MAIN(WAITS("RunContainerError"))), false, NULL },
    { "nonsense", GPU,
      "'status':{'reason':7,'containerStatuses':[null,7,{'state':[]},"
      "{'state':{'terminated':{'exitCode':'x'}}}]}",
      false, NULL },
};

static json_t *pod(const char *metadata, const char *spec, const char *status)
{
    CLEANUP_FREE char *text = xasprintf("{'metadata':{%s},%s,%s}", metadata, spec, status);
    return tree(text);
}

static void check_row(void **state)
{
    const struct row *row = *state;
    struct pod_failure f;
    CLEANUP_JSON json_t *object = pod("'uid':'u'", row->spec, row->status);
    assert_int_equal(pod_failure_read(object, &f), row->failed);
    if (row->failed)
        assert_int_equal(f.at_s, row->at ? clock_parse_rfc3339(row->at) / 1000000 : 0);
}

#define FAILED STATUS("Failed", MAIN(ENDED("state", "1", "10:00:00", "10:00:03")))
#define OWNER(more) "'ownerReferences':[{'kind':'Job','name':'j','uid':'o'" more "}]"

static const struct owner_row {
    const char *name, *metadata;
    const char *owner; /* uid; NULL: the pod does not count */
} owner_rows[] = {
    { "its controller", "'uid':'u'," OWNER(",'controller':true"), "o" },
    { "an owner that is no controller is none", "'uid':'u'," OWNER(""), "u" },
    { "the pod itself", "'uid':'u'", "u" },
    { "a pod that is being deleted", "'uid':'u','deletionTimestamp':'2026-11-20T10:00:00Z'", NULL },
    { "a pod without a uid", "'name':'x'", NULL },
};

static void check_owner(void **state)
{
    const struct owner_row *row = *state;
    struct pod_failure f;
    CLEANUP_JSON json_t *object = pod(row->metadata, GPU, FAILED);
    assert_int_equal(pod_failure_read(object, &f), row->owner != NULL);
    if (!row->owner)
        return;
    assert_int_equal(f.owner, str_hash_id(row->owner));
    assert_int_equal(f.pod, str_hash_id("u"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    SUITE_ROWS(&s, check_owner, owner_rows);
    return suite_run(&s, "pod_failure");
}
