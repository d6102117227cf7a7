#include "commands/demo_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* The version of Kubernetes whose API the simulator has. */
#define KUBECTL "https://dl.k8s.io/v1.36.3/bin/linux/%s/kubectl"

enum { COMMAND_WIDTH = 37 };

/* ---- the block */

static void add_row(struct buf *out, const char *label, const char *text)
{
    buf_printf(out, "  %-11s %s\n", label, text);
}

/* A command to copy, and what it does. */
static void add_try(struct buf *out, const char *label, const char *command, const char *what)
{
    CLEANUP_FREE char *text = xasprintf("%-*s # %s", COMMAND_WIDTH, command, what);
    add_row(out, label, text);
}

/* Commands of the plugin, which a container has too. */
static void add_plugin(const struct demo_texts *t, struct buf *out)
{
    CLEANUP_FREE char *program = t->container
                                     ? xasprintf("docker exec %s kubectl-gpu", t->container)
                                     : xasprintf("%skubectl-gpu", t->folder);
    CLEANUP_FREE char *story = xasprintf(t->built_in ? "%s explain infer-c2-7" : "%s nodes",
                                         program),
                      *pause = xasprintf("%s pause", program);
    add_try(out, t->container ? "try" : "try there", story,
            t->built_in ? "loses its GPU now and then" : "all GPU nodes");
    add_try(out, "", pause, "no further node begins");
}

void demo_texts_block(const struct demo_texts *t, struct buf *out)
{
    buf_printf(out, "Ostler %s in a simulated cluster at %sx speed. Ctrl-C ends it.\n\n",
               t->version, t->speed);
    CLEANUP_FREE char *page = xasprintf("http://127.0.0.1:%d/", t->port),
                      *configured = xasprintf("export KUBECONFIG=%s", t->kubeconfig);
    add_row(out, "page", page);
    if (!t->container)
        add_row(out, "terminal 2", configured);
    add_plugin(t, out);
    if (t->container) {
        CLEANUP_FREE char *events = xasprintf("docker exec %s kubectl-gpu events", t->container);
        add_try(out, "", events, "what happened");
    } else {
        add_try(out, "", "kubectl edit gpupolicy default", "set another driver.version");
    }
    if (!t->container && t->lacks_kubectl) {
        CLEANUP_FREE char *fetch = xasprintf("curl -LO " KUBECTL " && chmod +x kubectl",
                                             str_eq(t->machine, "aarch64") ? "arm64" : "amd64");
        add_row(out, "no kubectl?", fetch);
    }
    buf_str(out, "\n");
}

/* ---- the story */

void demo_story_add(struct demo_story *s, const char *line, size_t len)
{
    free(s->lines[0]);
    memmove(s->lines, s->lines + 1, sizeof s->lines - sizeof *s->lines);
    s->lines[DEMO_STORY_LINES - 1] = xstrndup(line, len);
}

void demo_story_print(const struct demo_story *s, size_t columns, struct buf *out)
{
    for (size_t i = 0; i < DEMO_STORY_LINES; i++) {
        CLEANUP_FREE char *cut = str_shortened(str_or_empty(s->lines[i]), columns);
        buf_printf(out, "%s\n", cut);
    }
    buf_str(out, "\n");
}

void demo_story_clear(struct demo_story *s)
{
    for (size_t i = 0; i < DEMO_STORY_LINES; i++)
        free(s->lines[i]);
}
