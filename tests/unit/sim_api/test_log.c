/* The log of a container is what its status says that it said. */
#include "tests/unit/sim_api/served.h"

#define PODS "/api/v1/namespaces/default/pods"
#define LOG "GET " PODS "/p/log"

static const struct row {
    const char *name;
    const char *request;
    int status;
    const char *text; /* of a log; of a refusal its message */
} rows[] = {
    { "of the only container", LOG, 200, "no headers\n" },
    { "of a container by name", LOG "?container=main", 200, "no headers\n" },
    { "of an init container", LOG "?container=check", 400,
      "container \"check\" in pod \"p\" is waiting to start: PodInitializing" },
    { "of one that is not there", LOG "?container=x", 400, "container x is not valid for pod p" },
    { "of the run before", LOG "?previous=true", 200, "the time before\n" },
    { "of a run before that was none", LOG "?container=check&previous=true", 400,
      "previous terminated container \"check\" in pod \"p\" not found" },
    { "with a limit", LOG "?limitBytes=4&tailLines=10", 200, "no h\n" },
    { "with a limit that is no number", LOG "?limitBytes=x", 400, NULL },
    { "of a pod that is not there", "GET " PODS "/q/log", 404, "pods \"q\" not found" },
    { "not of a pod", "GET /api/v1/nodes/a/log", 404, NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS,
                  "{'metadata':{'name':'p'},'spec':{'automountServiceAccountToken':false,'"
                  "initContainers':[{'name':'check',"
                  "'image':'i'}],"
                  "'containers':[{'name':'main','image':'i'}]}}",
                  201);
    served_expect(&s, "PATCH " PODS "/p/status",
                  "{'status':{'initContainerStatuses':[{'name':'check','image':'i','imageID':'','"
                  "ready':false,'restartCount':0,"
                  "'state':{'waiting':{'reason':'PodInitializing'}}}],"
                  "'containerStatuses':[{'name':'main','image':'i','imageID':'','ready':false,'"
                  "restartCount':1,"
                  "'state':{'terminated':{'exitCode':1,'message':'no headers'}},"
                  "'lastState':{'terminated':{'exitCode':1,'message':'the time before'}}}]}}",
                  200);
    served_expect(&s, row->request, NULL, row->status);
    if (row->text)
        assert_string_equal(row->status == 200 ? s.answer.body : served_str(&s, "message"),
                            row->text);
    if (row->status == 200)
        assert_string_equal(s.answer.content_type, "text/plain; charset=utf-8");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "log");
}
