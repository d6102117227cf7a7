/* A GitOps controller: re-applies an object that differs from "Git", a period after another writer
 * changed it. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/objects.h"

#define USER "argocd-controller"

enum { PERIOD_MS = 3 * 60 * 1000 };

struct gitops {
    struct actors *a;
    struct agenda agenda;
    const struct kind *kind;
};

static const json_t *in_git(const struct gitops *g)
{
    return g->a->world.gitops.object;
}

static int64_t period(const struct gitops *g)
{
    return g->a->world.gitops.period_ms ? g->a->world.gitops.period_ms : PERIOD_MS;
}

static void gitops_commit(void *self, const struct api_commit *c)
{
    struct gitops *g = self;
    const json_t *any = c->after ? c->after : c->before;
    if (c->kind == g->kind && !*c->subresource && !str_eq(c->user, USER) &&
        str_eq(object_name(any), object_name(in_git(g))) &&
        str_eq(object_namespace(any), object_namespace(in_git(g))))
        agenda_after(&g->agenda, object_name(any), period(g));
}

static void gitops_look(void *self, const char *name)
{
    struct gitops *g = self;
    if (api_apply(g->a->api, USER, g->kind, in_git(g), true, NULL) < 0)
        agenda_after(&g->agenda, name, period(g));
}

static void *gitops_begin(struct actors *a)
{
    const struct spec_gitops *spec = &a->world.gitops;
    if (!spec->object)
        return NULL;
    struct gitops *g = xcalloc(1, sizeof *g);
    g->a = a;
    g->kind = kind_named(spec->kind);
    agenda_init(&g->agenda, a->sim, "gitops", a->world.latencies.controller, gitops_look, g);
    agenda_note(&g->agenda, object_name(spec->object));
    return g;
}

static void gitops_end(void *self)
{
    struct gitops *g = self;
    agenda_clear(&g->agenda);
    free(g);
}

const struct actor gitops_actor = { gitops_begin, gitops_commit, gitops_end };
