#include "kubectl/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/object.h"
#include "kubectl/gather.h"
#include "kubectl/show.h"
#include "reconcilers/view/edit.h"
#include "reconcilers/view/edit_health.h"
#include "reconcilers/view/snapshot.h"
#include "reconcilers/view/term.h"

/* Attempts after a concurrent write: Ostler itself writes the policy's status every few seconds. */
enum { TRIES = 5, PAUSE_MS = 200 };

/* Our field manager, which shows the origin of a change. If the name began with "kubectl", Flux
 * would revert the fields. */
#define MANAGER "ostler-kubectl"

/* The edits of commands, and their objects: the policy, or each node of the command line. Without
 * one it is edit_approve(). */
static const struct change {
    enum resource_id resource;
    void (*edit)(const json_t *object, struct edit *ret);
    int (*edit_health)(const struct edit_health *h, struct edit *ret, struct err *e);
    unsigned reads; /* parts that the edit needs besides its object, as far as they are readable */
} changes[GPU_COMMAND_COUNT] = {
    [GPU_PAUSE] = { RESOURCE_POLICY, edit_pause },
    [GPU_RESUME] = { RESOURCE_POLICY, edit_resume },
    [GPU_APPROVE] = { RESOURCE_POLICY, NULL },
    [GPU_HOLD] = { RESOURCE_NODE, edit_hold },
    [GPU_RELEASE] = { RESOURCE_NODE, edit_release },
    [GPU_REPAIR] = { RESOURCE_NODE, .edit_health = edit_repair, .reads = SEE_PODS },
    [GPU_IGNORE] = { RESOURCE_NODE, .edit_health = edit_ignore },
};

/* Whether the command writes nothing before the user has read what it will do. */
static bool only_says(const struct gpu_options *o)
{
    return o->command == GPU_REPAIR && !o->yes && !o->undo && !o->dry_run;
}

static void print_clean(FILE *to, const char *before, const char *text)
{
    CLEANUP_FREE char *clean = terminal_clean(text);
    fprintf(to, "%s%s\n", before, clean);
}

static void change_print(const struct edit *d, const struct gpu_options *o)
{
    bool said = d->patch && only_says(o), dry = d->patch && o->dry_run;
    print_clean(stdout, said ? "with --yes: " : dry ? "(dry run) " : "", d->said);
    if (d->patch && d->undo && !o->dry_run && !said)
        print_clean(stdout, "undo: ", d->undo);
    fflush(stdout);
    if (d->patch && d->warning)
        print_clean(stderr, "kubectl gpu: warning: ", d->warning);
}

static struct request change_request_of(enum resource_id resource, const struct edit *d,
                                        const char *name, bool dry_run)
{
    CLEANUP_FREE char *path = resource_path(resource, NULL, name, NULL);
    return (struct request){ .class = REQUEST_WRITE,
                             .method = "PATCH",
                             .path = xasprintf("%s?fieldManager=" MANAGER "%s", path,
                                               dry_run ? "&dryRun=All" : ""),
                             .content_type = "application/merge-patch+json",
                             .body = json_compact(d->patch),
                             .resource = resource,
                             .dry_run = dry_run };
}

static int change_send(struct ask *a, const struct edit *d, const struct gpu_options *o,
                       const char *name, struct err *e)
{
    CLEANUP_JSON json_t *answer = NULL;
    int rc = ask_one(a, change_request_of(changes[o->command].resource, d, name, o->dry_run),
                     &answer, e);
    bool lost = rc < 0 &&
                (e->kind == ERR_TIMEOUT || e->kind == ERR_UNREACHABLE || e->kind == ERR_SERVER);
    if (lost && !o->dry_run)
        return err_wrap(e, "the change may or may not have been applied");
    if (rc < 0 && e->kind == ERR_FORBIDDEN)
        return err_wrap(e, "nothing was changed: a permission is missing");
    return rc;
}

/* Reads the current policy. New reference. */
static json_t *read_policy(struct ask *a, const struct gpu_options *o, struct err *e)
{
    json_t *snapshot = gather(a, o, &(struct gathering){ SEE_POLICY, SEE_POLICY, NULL }, e);
    if (snapshot && !json_object_get(snapshot, "policy"))
        err_set(e, ERR_NOT_FOUND, "there is no GpuClusterPolicy: nothing is upgraded");
    return snapshot;
}

/* Reads the current Node and what belongs to it; without an error and a node: it does not exist.
 * New reference. */
static json_t *change_read_node(struct ask *a, const struct gpu_options *o, const char *name,
                                struct err *e)
{
    unsigned parts = SEE_POLICY | SEE_NODES | SEE_REPORTS | changes[o->command].reads;
    json_t *snapshot = gather(a, o, &(struct gathering){ parts, SEE_NODES, name }, e);
    json_t *node = json_object_get(snapshot, "nodes"),
           *report = json_object_get(snapshot, "reports");
    /* A hold of a node without a GPU has no effect; a mistyped name may be that of another node. */
    if (node && !report && !json_str(snapshot, "missing.reports"))
        err_set(e, ERR_INVALID, "%s has no GPU that Ostler knows of: nothing was changed", name);
    if (snapshot && !node && report)
        err_set(
            e, ERR_NOT_FOUND,
            "the Node %s does not exist, and Ostler will delete its GpuNode: nothing was changed",
            name);
    return snapshot;
}

/* Decides what to change. */
static int change_edit(const struct ask *a, const struct gpu_options *o, const json_t *snapshot,
                       const json_t *object, struct edit *ret, struct err *e)
{
    const struct change *c = &changes[o->command];
    struct edit_health health = { snapshot, o->fault, o->undo, ask_now_us(a) };
    if (c->edit_health)
        return c->edit_health(&health, ret, e);
    if (!c->edit)
        return edit_approve(object, o->name_count ? o->names[0] : NULL, ret, e);
    c->edit(object, ret);
    return 0;
}

/* `name`: of a node; NULL: the policy. */
static int try_once(struct ask *a, const struct gpu_options *o, const char *name, struct err *e)
{
    struct edit d = { 0 };
    CLEANUP_JSON json_t *snapshot = name ? change_read_node(a, o, name, e) : read_policy(a, o, e);
    const json_t *object = json_object_get(snapshot, name ? "nodes" : "policy");
    if (e->kind != ERR_NONE || !object)
        return e->kind == ERR_NONE ? show_no_such_node(a, o, name, e) : -1;
    int rc = change_edit(a, o, snapshot, object, &d, e);
    if (rc == 0 && d.patch && !only_says(o))
        rc = change_send(a, &d, o, object_name(object), e);
    if (rc == 0)
        change_print(&d, o);
    if (rc == 0 && d.patch && only_says(o))
        rc = err_set(e, ERR_INVALID, "nothing was changed: add --yes to ask for the repair");
    edit_clear(&d);
    return rc;
}

static int carry_out(struct ask *a, const struct gpu_options *o, const char *name, struct err *e)
{
    int rc = try_once(a, o, name, e);
    for (int i = 1; i < TRIES && rc < 0 && e->kind == ERR_CONFLICT && ask_wait(a, PAUSE_MS); i++) {
        err_clear(e);
        rc = try_once(a, o, name, e);
    }
    return rc;
}

int change_run(struct ask *a, const struct gpu_options *o, struct err *e)
{
    int rc = 0;
    if (changes[o->command].resource == RESOURCE_POLICY)
        return carry_out(a, o, NULL, e);
    /* Runs on all nodes despite failures, and reports each failure. */
    for (size_t i = 0; i < o->name_count; i++) {
        const char *name = o->names[i];
        if (!snapshot_is_name(name) ? err_set(e, ERR_INVALID, "%s is not a name of a node", name)
                                    : carry_out(a, o, name, e)) {
            print_clean(stderr, "kubectl gpu: ", err_msg(e));
            err_clear(e);
            rc = -1;
        }
    }
    return rc;
}
