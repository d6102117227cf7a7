#include "kubectl/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/object.h"
#include "kubectl/gather.h"
#include "kubectl/show.h"
#include "kubectl/view/edit.h"
#include "kubectl/view/snapshot.h"
#include "kubectl/view/term.h"

/* Attempts after a concurrent write: Ostler itself writes the policy's status every few seconds. */
enum { TRIES = 5, PAUSE_MS = 200 };

/* Our field manager, which shows the origin of a change. If the name began with "kubectl", Flux
 * would revert the fields. */
#define MANAGER "ostler-kubectl"

/* An edit and its object. */
struct change {
    enum resource_id resource;
    const char *name; /* of a node; NULL: the policy */
    int (*decide)(const json_t *object, const struct gpu_options *o, struct edit *ret,
                  struct err *e);
};

static void print_clean(FILE *to, const char *before, const char *text)
{
    CLEANUP_FREE char *clean = terminal_clean(text);
    fprintf(to, "%s%s\n", before, clean);
}

static void change_tell(const struct edit *d, const struct gpu_options *o)
{
    print_clean(stdout, d->patch && o->dry_run ? "(dry run) " : "", d->said);
    if (d->patch && d->undo && !o->dry_run)
        print_clean(stdout, "undo: ", d->undo);
    fflush(stdout);
    if (d->patch && d->warning)
        print_clean(stderr, "kubectl gpu: warning: ", d->warning);
}

static struct request change_request_of(const struct change *c, const struct edit *d,
                                        const char *name, bool dry_run)
{
    CLEANUP_FREE char *path = resource_path(c->resource, NULL, name, NULL);
    return (struct request){ .class = REQUEST_WRITE,
                             .method = "PATCH",
                             .path = xasprintf("%s?fieldManager=" MANAGER "%s", path,
                                               dry_run ? "&dryRun=All" : ""),
                             .content_type = "application/merge-patch+json",
                             .body = json_compact(d->patch),
                             .resource = c->resource,
                             .dry_run = dry_run };
}

static int change_send(struct ask *a, const struct change *c, const struct edit *d,
                       const struct gpu_options *o, const char *name, struct err *e)
{
    CLEANUP_JSON json_t *answer = NULL;
    int rc = ask_one(a, change_request_of(c, d, name, o->dry_run), &answer, e);
    bool lost = rc < 0 &&
                (e->kind == ERR_TIMEOUT || e->kind == ERR_UNREACHABLE || e->kind == ERR_SERVER);
    if (lost && !o->dry_run)
        return err_wrap(e, "whether it was changed is not known");
    if (rc < 0 && e->kind == ERR_FORBIDDEN)
        return err_wrap(e, "nothing was changed: a permission is missing");
    return rc;
}

/* Reads the current policy. New reference. */
static json_t *read_policy(struct ask *a, const struct gpu_options *o, struct err *e)
{
    CLEANUP_JSON json_t *snapshot = gather(a, o,
                                           &(struct gathering){ SEE_POLICY, SEE_POLICY, NULL }, e);
    json_t *policy = json_object_get(snapshot, "policy");
    if (snapshot && !policy)
        err_set(e, ERR_NOT_FOUND, "there is no GpuClusterPolicy: nothing is upgraded");
    return json_incref(policy);
}

/* Reads the current Node; NULL without an error: it does not exist. New reference. */
static json_t *change_read_node(struct ask *a, const struct gpu_options *o, const char *name,
                                struct err *e)
{
    CLEANUP_JSON json_t *snapshot = gather(
        a, o, &(struct gathering){ SEE_POLICY | SEE_NODES | SEE_REPORTS, SEE_NODES, name }, e);
    json_t *node = json_object_get(snapshot, "nodes"),
           *report = json_object_get(snapshot, "reports");
    /* A hold of a node without a GPU has no effect; a mistyped name may be that of another node. */
    if (node && !report && !json_str(snapshot, "missing.reports"))
        err_set(e, ERR_INVALID, "%s has no GPU that Ostler knows of: nothing was changed", name);
    if (snapshot && !node && report)
        err_set(e, ERR_NOT_FOUND,
                "the Node %s is gone, and Ostler will delete its GpuNode: nothing was changed",
                name);
    return e->kind == ERR_NONE ? json_incref(node) : NULL;
}

/* Reads the fleet's names only if a name does not exist. */
static int say_no_node(struct ask *a, const struct gpu_options *o, const char *name, struct err *e)
{
    CLEANUP_JSON json_t *fleet = gather(a, o, &(struct gathering){ SEE_REPORTS, SEE_REPORTS, NULL },
                                        e);
    return fleet ? show_no_node(json_object_get(fleet, "reports"), name, e) : -1;
}

static int try_once(struct ask *a, const struct change *c, const struct gpu_options *o,
                    struct err *e)
{
    struct edit d = { 0 };
    CLEANUP_JSON json_t *object = c->name ? change_read_node(a, o, c->name, e)
                                          : read_policy(a, o, e);
    if (!object)
        return e->kind == ERR_NONE ? say_no_node(a, o, c->name, e) : -1;
    int rc = c->decide(object, o, &d, e);
    if (rc == 0 && d.patch)
        rc = change_send(a, c, &d, o, object_name(object), e);
    if (rc == 0)
        change_tell(&d, o);
    edit_clear(&d);
    return rc;
}

static int carry_out(struct ask *a, const struct change *c, const struct gpu_options *o,
                     struct err *e)
{
    int rc = try_once(a, c, o, e);
    for (int i = 1; i < TRIES && rc < 0 && e->kind == ERR_CONFLICT && ask_wait(a, PAUSE_MS); i++) {
        err_clear(e);
        rc = try_once(a, c, o, e);
    }
    return rc;
}

/* Runs on all nodes despite failures, and reports each failure. */
static int carry_out_on_nodes(struct ask *a, struct change c, const struct gpu_options *o,
                              struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < o->name_count; i++) {
        c.name = o->names[i];
        if (!show_is_name(c.name) ? err_set(e, ERR_INVALID, "%s is no name of a node", c.name)
                                  : carry_out(a, &c, o, e)) {
            print_clean(stderr, "kubectl gpu: ", err_msg(e));
            err_clear(e);
            rc = -1;
        }
    }
    return rc;
}

/* ---- commands */

static int decide_pause(const json_t *policy, const struct gpu_options *o, struct edit *ret,
                        struct err *e)
{
    (void) o, (void) e;
    edit_pause(policy, ret);
    return 0;
}

static int decide_resume(const json_t *policy, const struct gpu_options *o, struct edit *ret,
                         struct err *e)
{
    (void) o, (void) e;
    edit_resume(policy, ret);
    return 0;
}

static int decide_approve(const json_t *policy, const struct gpu_options *o, struct edit *ret,
                          struct err *e)
{
    return edit_approve(policy, o->name_count ? o->names[0] : NULL, ret, e);
}

static int decide_hold(const json_t *node, const struct gpu_options *o, struct edit *ret,
                       struct err *e)
{
    (void) o, (void) e;
    edit_hold(node, ret);
    return 0;
}

static int decide_release(const json_t *node, const struct gpu_options *o, struct edit *ret,
                          struct err *e)
{
    (void) o, (void) e;
    edit_release(node, ret);
    return 0;
}

int change_pause(struct ask *a, const struct gpu_options *o, struct err *e)
{
    return carry_out(a, &(struct change){ RESOURCE_POLICY, NULL, decide_pause }, o, e);
}

int change_resume(struct ask *a, const struct gpu_options *o, struct err *e)
{
    return carry_out(a, &(struct change){ RESOURCE_POLICY, NULL, decide_resume }, o, e);
}

int change_approve(struct ask *a, const struct gpu_options *o, struct err *e)
{
    return carry_out(a, &(struct change){ RESOURCE_POLICY, NULL, decide_approve }, o, e);
}

int change_hold(struct ask *a, const struct gpu_options *o, struct err *e)
{
    return carry_out_on_nodes(a, (struct change){ RESOURCE_NODE, NULL, decide_hold }, o, e);
}

int change_release(struct ask *a, const struct gpu_options *o, struct err *e)
{
    return carry_out_on_nodes(a, (struct change){ RESOURCE_NODE, NULL, decide_release }, o, e);
}
