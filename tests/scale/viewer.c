#include "tests/scale/viewer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "reconcilers/fleet_view.h"
#include "tests/scale/count.h"

/* The page's own times (controller/fleet.c). Counting stops and starts callgrind, so only one
 * frame of so many is counted. */
enum { FRAME_MS = 250, POLICY_MS = 1000, COUNT_EVERY = 40, TEXT_MAX = 1 << 26 };

static void names_clear(struct viewer *v)
{
    map_clear_with(&v->names, free);
    v->names = (struct map){ 0 };
}

void viewer_changed(void *arg, const char *name)
{
    struct viewer *v = arg;
    if (!name) {
        v->policy = true;
    } else if (!map_get(&v->names, name)) {
        char *copy = xstrdup(name);
        map_put(&v->names, copy, copy);
    }
}

static void add(struct viewer_frames *of, size_t bytes)
{
    of->frames++;
    of->bytes += bytes;
    of->most = bytes > of->most ? bytes : of->most;
}

static void look_at_nodes(struct viewer *v, const struct fleet_source *s)
{
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    MAP_EACH (e, &v->names)
        fleet_row(s, e->key, &out);
    add(&v->nodes, out.len);
    v->rows += v->names.len;
}

static void look_at_policy(struct viewer *v, const struct fleet_source *s)
{
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    bool counts = v->policies.frames % COUNT_EVERY == 0;
    if (counts) {
        count_start();
        count_toggle();
    }
    fleet_policy(s, &out);
    if (counts) {
        count_toggle();
        count_stop();
        v->counted++;
    }
    add(&v->policies, out.len);
    v->same += str_eq(v->last, buf_text(&out));
    xstrset(&v->last, buf_text(&out));
}

void viewer_look(struct viewer *v, const struct cluster *c, int64_t now_ms)
{
    const struct fleet_source s = { c, "0.1.0", "ostler" };
    if (!v->policy && !v->names.len)
        return;
    if (!v->due_ms)
        v->due_ms = now_ms + FRAME_MS;
    if (now_ms < v->due_ms)
        return;
    if (v->names.len)
        look_at_nodes(v, &s);
    if (v->policy && now_ms - v->policy_ms >= POLICY_MS) {
        look_at_policy(v, &s);
        v->policy = false;
        v->policy_ms = now_ms;
    }
    names_clear(v);
    v->due_ms = 0;
}

static void print_frames(const char *what, const struct viewer_frames *of, int64_t took_ms)
{
    uint64_t n = of->frames ? of->frames : 1;
    printf("    %s: %" PRIu64 " frames, %.2f a second, %" PRIu64 " bytes each, at most %" PRIu64
           ", %.1f KiB a second\n",
           what, of->frames, (double) of->frames * 1000 / (double) took_ms, of->bytes / n, of->most,
           (double) of->bytes / 1.024 / (double) took_ms);
}

void viewer_print(const struct viewer *v, int64_t took_ms)
{
    print_frames("of nodes", &v->nodes, took_ms);
    printf("    %" PRIu64 " rows\n", v->rows);
    print_frames("of the policy", &v->policies, took_ms);
    printf("    %" PRIu64 " of them like the one before\n", v->same);
    printf("    %" PRIu64 " frames of the policy counted\n", v->counted);
}

void viewer_clear(struct viewer *v)
{
    names_clear(v);
    free(v->last);
    *v = (struct viewer){ 0 };
}
