#include "commands/install_crds.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "client/session.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"

/* Helm applies a chart's CRDs when it installs the chart: with the same manager, the two do not
 * conflict. */
#define MANAGER "helm"

enum { ANSWER_MAX = 4 << 20, TIMEOUT_MS = 60 * 1000, LOOK_AGAIN_MS = 500 };

/* Sends one request after another and waits for each. */
struct talk {
    struct session session;
    struct exchange exchange;
    int64_t until_ms; /* the deadline */
    json_t *answer;   /* the last response; NULL: see `failure` */
    struct err failure;
};

static void install_crds_on_reply(void *arg, struct reply *reply)
{
    struct talk *t = arg;
    t->answer = reply_object(reply, NULL);
    t->failure = err_take(&reply->err);
}

static int talk_open(struct talk *t, const struct options *o, struct err *e)
{
    const struct session_options so = { o->kubeconfig, o->context, "ostler-install-crds",
                                        ostler_version };
    *t = (struct talk){ .exchange = { .transport = &t->session.transport,
                                      .done = install_crds_on_reply,
                                      .arg = t,
                                      .body = BUF_INIT(ANSWER_MAX) } };
    int rc = session_open(&t->session, &so, e);
    t->until_ms = clock_mono_ms(&t->session.clock) +
                  (o->wishes.timeout_ms ? o->wishes.timeout_ms : TIMEOUT_MS);
    return rc;
}

static void talk_close(struct talk *t)
{
    exchange_cancel(&t->exchange);
    session_close(&t->session);
}

/* The object in the response; NULL with an error. */
static json_t *install_crds_ask(struct talk *t, struct request request_steal, struct err *e)
{
    exchange_send(&t->exchange, request_steal);
    if (!session_wait(&t->session, &t->exchange, t->until_ms)) {
        exchange_cancel(&t->exchange);
        err_set(&t->failure, ERR_TIMEOUT, "no answer in time");
    }
    if (t->failure.kind != ERR_NONE)
        *e = err_take(&t->failure);
    return TAKE(t->answer);
}

static long schema_of(const json_t *crd)
{
    const char *text = object_annotation(crd, ANNOTATION_SCHEMA);
    return text ? strtol(text, NULL, 10) : 0;
}

/* Waits a moment; -1 at the deadline. */
static int pause_for(struct talk *t, const char *what, struct err *e)
{
    int64_t again_ms = clock_mono_ms(&t->session.clock) + LOOK_AGAIN_MS;
    if (again_ms >= t->until_ms)
        return err_set(e, ERR_TIMEOUT, "%s", what);
    session_wait(&t->session, NULL, again_ms);
    return 0;
}

/* Waits until the API server serves a CRD's objects, which it does not do at once. */
static int wait_established(struct talk *t, const char *name, struct err *e)
{
    for (;;) {
        CLEANUP_JSON json_t *crd = install_crds_ask(t, request_get(RESOURCE_CRD, NULL, name), e);
        if (!crd)
            return -1;
        if (condition_is_true(crd, "Established"))
            return 0;
        if (pause_for(t, "the API server does not establish it", e) < 0)
            return -1;
    }
}

/* The existing object; NULL with ERR_NOT_FOUND if there is none. A CRD that is being deleted
 * would take applied changes with it, so this waits for its end. */
static json_t *look_for(struct talk *t, const char *name, struct err *e)
{
    for (;;) {
        json_t *crd = install_crds_ask(t, request_get(RESOURCE_CRD, NULL, name), e);
        if (!crd || !object_is_deleting(crd))
            return crd;
        json_decref(crd);
        if (pause_for(t, "it is being deleted: wait until it is gone, then install it", e) < 0)
            return NULL;
    }
}

static int install(struct talk *t, const json_t *crd, struct err *e)
{
    const char *name = object_name(crd);
    CLEANUP_ERR struct err no = { 0 };
    CLEANUP_JSON json_t *there = look_for(t, name, &no);
    if (!there && no.kind != ERR_NOT_FOUND)
        return err_set(e, no.kind, "%s: %s", name, err_msg(&no));
    if (there && schema_of(there) > schema_of(crd)) {
        printf("%s: schema %ld is installed, newer than %ld: left unchanged, as it works with an "
               "older Ostler\n",
               name, schema_of(there), schema_of(crd));
        return 0;
    }
    CLEANUP_JSON json_t *applied = install_crds_ask(
        t, request_apply_as(MANAGER, RESOURCE_CRD, NULL, name, crd), e);
    if (!applied || wait_established(t, name, e) < 0)
        return err_wrap(e, "%s", name);
    printf("%s: schema %ld is installed\n", name, schema_of(crd));
    return 0;
}

static int install_file(struct talk *t, const char *path, struct err *e)
{
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, e);
    if (!documents)
        return -1;
    JSON_EACH (crd, documents)
        if (!str_eq(json_str(crd, "kind"), "CustomResourceDefinition"))
            return err_set(e, ERR_INVALID,
                           "%s: holds an object that is not a CustomResourceDefinition", path);
        else if (install(t, crd, e) < 0)
            return -1;
    return 0;
}

static int is_yaml(const struct dirent *entry)
{
    return str_has_suffix(entry->d_name, ".yaml");
}

static int install_folder(struct talk *t, const char *folder, struct err *e)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_yaml, alphasort), rc = 0;
    if (n <= 0)
        return err_set(e, ERR_INVALID, "--from %s: %s", folder,
                       n < 0 ? "cannot be read" : "there is no file *.yaml");
    for (int i = 0; i < n; i++) {
        CLEANUP_FREE char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        rc = rc < 0 ? rc : install_file(t, path, e);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int install_crds(const struct options *o)
{
    struct talk t;
    CLEANUP_ERR struct err e = { 0 };
    int rc = talk_open(&t, o, &e) < 0 ? -1 : install_folder(&t, o->from, &e);
    if (rc < 0)
        fprintf(stderr, "ostler: not all CRDs are installed: %s\n", err_msg(&e));
    talk_close(&t);
    return rc < 0;
}
