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
    const json_t *object; /* as in Git; borrowed */
    int64_t period_ms;
};

static void gitops_commit(void *self, const struct api_commit *c)
{
    struct gitops *g = self;
    const json_t *any = c->after ? c->after : c->before;
    if (c->kind == g->kind && !*c->subresource && !str_eq(c->user, USER) &&
        str_eq(object_name(any), object_name(g->object)) &&
        str_eq(object_namespace(any), object_namespace(g->object)))
        agenda_after(&g->agenda, object_name(any), g->period_ms);
}

static void gitops_look(void *self, const char *name)
{
    struct gitops *g = self;
    if (api_apply(g->a->api, USER, g->kind, g->object, true, NULL) < 0)
        agenda_after(&g->agenda, name, g->period_ms);
}

static void gitops_begin(void *self)
{
    struct gitops *g = self;
    const struct spec_gitops *spec = &g->a->world.gitops;
    g->kind = kind_named(spec->kind);
    g->object = spec->object;
    g->period_ms = spec->period_ms ? spec->period_ms : PERIOD_MS;
    agenda_note(&g->agenda, object_name(g->object));
}

const struct actor gitops_actor = {
    .size = sizeof(struct gitops),
    .agendas = { AGENDA(struct gitops, agenda, "gitops", controller, gitops_look) },
    .begin = gitops_begin,
    .commit = gitops_commit,
};
