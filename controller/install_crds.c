#include "install_crds.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "client/http.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/reply.h"
#include "kube/split.h"
#include "reconcilers/model/names.h"

/* Helm applies the definitions of a chart that it installs: under one name the two do not stand in each other's way. */
#define MANAGER "helm"

enum { ANSWER_MAX = 4 << 20, TIMEOUT_MS = 60 * 1000, LOOK_AGAIN_MS = 500 };

/* One request after the other, each waited for. */
struct talk {
    struct config config;
    struct clock clock;
    struct http *http;
    struct transport transport;
    int64_t until_ms; /* nothing is waited for after this */
    struct buf answer;
    struct err failure; /* of the last answer */
    bool done;
};

static int talk_open(struct talk *t, const struct options *o, struct err *e)
{
    *t = (struct talk){ .clock = clock_system(), .answer = BUF_INIT(ANSWER_MAX) };
    t->until_ms = clock_mono_ms(&t->clock) + (o->wishes.timeout_ms ? o->wishes.timeout_ms : TIMEOUT_MS);
    if (config_load(o->kubeconfig, o->context, &t->config, e) < 0)
        return -1;
    config_call(&t->config, "ostler-install-crds", ostler_version);
    t->http = http_new(&t->config, &t->clock, e);
    if (!t->http)
        return -1;
    t->transport = http_transport(t->http);
    return 0;
}

static void talk_close(struct talk *t)
{
    http_free(t->http);
    config_clear(&t->config);
    buf_clear(&t->answer);
    err_clear(&t->failure);
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
    struct talk *t = arg;
    return buf_add(&t->answer, bytes, n) ? 0 : -1;
}

static void on_done(void *arg, const struct transport_result *result)
{
    struct talk *t = arg;
    t->done = true;
    reply_take(result, buf_text(&t->answer), t->answer.len, &t->failure);
}

/* The object that is answered; NULL with an error. */
static json_t *ask(struct talk *t, struct request request_steal, struct err *e)
{
    struct transport_sink sink = { NULL, on_bytes, on_done, t };
    t->done = false;
    err_clear(&t->failure);
    buf_reset(&t->answer);
    uint64_t id = transport_submit(&t->transport, &request_steal, &sink);
    while (!t->done && clock_mono_ms(&t->clock) < t->until_ms)
        http_wait(t->http, t->until_ms, -1);
    if (!t->done) {
        transport_cancel(&t->transport, id);
        err_set(&t->failure, ERR_TIMEOUT, "no answer in time");
    }
    if (t->failure.kind == ERR_NONE)
        return split_object(buf_text(&t->answer), t->answer.len, NULL, e);
    *e = err_take(&t->failure);
    return NULL;
}

static long schema_of(const json_t *crd)
{
    const char *text = object_annotation(crd, ANNOTATION_SCHEMA);
    return text ? strtol(text, NULL, 10) : 0;
}

/* Waits a moment; -1 when the time is over. */
static int pause_for(struct talk *t, const char *what, struct err *e)
{
    int64_t again_ms = clock_mono_ms(&t->clock) + LOOK_AGAIN_MS;
    if (again_ms >= t->until_ms)
        return err_set(e, ERR_TIMEOUT, "%s", what);
    while (clock_mono_ms(&t->clock) < again_ms)
        http_wait(t->http, again_ms, -1);
    return 0;
}

/* Whether the server serves objects of it; nobody answers for it at once. */
static int wait_established(struct talk *t, const char *name, struct err *e)
{
    for (;;) {
        CLEANUP_JSON json_t *crd = ask(t, request_get(RESOURCE_CRD, NULL, name), e);
        if (!crd)
            return -1;
        if (str_eq(condition_status(json_at(crd, "status.conditions"), "Established"), "True"))
            return 0;
        if (pause_for(t, "the API server does not establish it", e) < 0)
            return -1;
    }
}

/* What is there, NULL with ERR_NOT_FOUND: nothing. One that is being deleted takes what is applied to it along, so its end is
 * waited for. */
static json_t *look_for(struct talk *t, const char *name, struct err *e)
{
    for (;;) {
        json_t *crd = ask(t, request_get(RESOURCE_CRD, NULL, name), e);
        if (!crd || !object_is_deleting(crd))
            return crd;
        json_decref(crd);
        if (pause_for(t, "it is being deleted: wait for its end, and install it then", e) < 0)
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
        printf("%s: schema %ld is there, newer than %ld: it is not changed, and works with an older Ostler\n", name,
               schema_of(there), schema_of(crd));
        return 0;
    }
    CLEANUP_JSON json_t *applied = ask(t, request_apply_as(MANAGER, RESOURCE_CRD, NULL, name, crd), e);
    if (!applied || wait_established(t, name, e) < 0)
        return err_wrap(e, "%s", name);
    printf("%s: schema %ld is installed\n", name, schema_of(crd));
    return 0;
}

static int install_file(struct talk *t, const char *path, struct err *e)
{
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, e);
    size_t i;
    json_t *crd;
    if (!documents)
        return -1;
    json_array_foreach (documents, i, crd)
        if (!str_eq(json_str(crd, "kind"), "CustomResourceDefinition"))
            return err_set(e, ERR_INVALID, "%s: holds something else than a CustomResourceDefinition", path);
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
        return err_set(e, ERR_INVALID, "--from %s: %s", folder, n < 0 ? "cannot be read" : "there is no file *.yaml");
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
