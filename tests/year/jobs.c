/* The jobs of a node. Between faults they are not simulated: a node without a fault always works.
 * With the first fault pods appear for the jobs that run there, and go when all is well again. */
#include <stdio.h>

#include "base/json.h"
#include "kube/object.h"
#include "tests/year/year.h"

#define USER "jobs"

enum { CHECKPOINT_H = 1, FAILS_MS = 60 * 1000, GAP_MS = 5 * 60 * 1000 };

static int slots(const struct place *p)
{
    return p->whole ? 1 : GPUS;
}

static int gpus_of_job(const struct place *p)
{
    return p->whole ? GPUS : 1;
}

static int64_t draw_length(struct place *p)
{
    return p->whole ? rng_between(&p->rng, 2 * HOUR_MS, 24 * HOUR_MS)
                    : rng_between(&p->rng, HOUR_MS / 6, 8 * HOUR_MS);
}

static void pod_name(const struct job *j, char ret[40])
{
    snprintf(ret, 40, "job-%llu", (unsigned long long) j->number);
}

static void job_start(struct place *p, struct job *j, int64_t elapsed_ms, int64_t length_ms)
{
    struct fleet *f = p->fleet;
    char name[40], count[4];
    j->number = ++f->jobs_made;
    pod_name(j, name);
    snprintf(count, sizeof count, "%d", gpus_of_job(p));
    CLEANUP_JSON json_t *pod = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:[{s:s, s:s}], s:[{s:s, s:s, s:{s:{s:s}}}]}}",
        "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace", "default", "spec",
        "nodeName", p->name, "restartPolicy", "Never", "tolerations", "key", "nvidia.com/gpu",
        "operator", "Exists", "containers", "name", "main", "image", "registry.example.com/job:1",
        "resources", "limits", "nvidia.com/gpu", count);
    if (api_create(f->api, USER, kind_named("pods"), pod, NULL) < 0)
        return;
    j->runs = true;
    j->since_ms = f->sim.now_ms - elapsed_ms;
    j->ends_ms = j->since_ms + length_ms;
}

static void job_stop(struct place *p, struct job *j)
{
    char name[40];
    pod_name(j, name);
    api_delete(p->fleet->api, USER, kind_named("pods"), "default", name, NULL, 0, NULL);
    j->runs = false;
    j->next_ms = p->fleet->sim.now_ms;
}

/* What it did since its last checkpoint is lost. */
static void job_lose(struct place *p, struct job *j)
{
    int64_t worked = p->fleet->sim.now_ms - j->since_ms;
    p->fleet->sums.jobs_h += (double) (worked % (CHECKPOINT_H * HOUR_MS)) / (double) HOUR_MS *
                             gpus_of_job(p) / GPUS;
    job_stop(p, j);
}

void jobs_begin(struct place *p)
{
    for (int i = 0; i < slots(p); i++) {
        /* A job that is met at a random time is a long one. */
        int64_t one = draw_length(p), other = draw_length(p), length = one > other ? one : other;
        p->jobs[i] = (struct job){ 0 };
        job_start(p, &p->jobs[i], rng_between(&p->rng, 0, length), length);
    }
}

bool place_is_broken(const struct place *p, int gpu)
{
    for (size_t i = 0; i < p->trouble_count; i++)
        if (p->troubles[i].fault->kind->breaks && p->troubles[i].fault->gpu == gpu)
            return true;
    return false;
}

int place_broken(const struct place *p)
{
    int broken = 0;
    for (int i = 0; i < GPUS; i++)
        broken += place_is_broken(p, i);
    return broken;
}

bool place_is_poisoned(const struct place *p)
{
    for (size_t i = 0; i < p->trouble_count; i++)
        if (p->troubles[i].fault->kind->spreads)
            return true;
    return false;
}

/* Whether its pod still runs; a reboot and an eviction end it. */
static bool job_lives(const struct place *p, const struct job *j)
{
    char name[40];
    pod_name(j, name);
    const json_t *pod = api_get(p->fleet->api, kind_named("pods"), "default", name);
    return p->machine.up && pod && !object_is_deleting(pod);
}

/* A job that finds a GPU on which programs fail fails within a minute, and the next one comes. */
static void job_fails(struct place *p, struct job *j)
{
    p->fleet->sums.failed_jobs++;
    j->next_ms = p->fleet->sim.now_ms + FAILS_MS;
}

static void slot_look(struct place *p, int slot)
{
    struct job *j = &p->jobs[slot];
    int64_t now = p->fleet->sim.now_ms;
    if (j->runs && now >= j->ends_ms) {
        job_stop(p, j);
        j->next_ms = now + (p->whole ? rng_between(&p->rng, 0, GAP_MS) : 0);
    } else if (j->runs && !job_lives(p, j)) {
        p->fleet->sums.evictions++;
        job_lose(p, j);
    }
    int room = p->given - jobs_running(p) * gpus_of_job(p);
    if (j->runs || p->closed || now < j->next_ms || room < gpus_of_job(p))
        return;
    if (place_is_poisoned(p) || (p->whole ? place_broken(p) > 0 : place_is_broken(p, slot)))
        job_fails(p, j);
    else
        job_start(p, j, 0, draw_length(p));
}

/* Healthy GPUs first: what the device plugin withholds are broken ones. */
void jobs_look(struct place *p)
{
    for (int i = 0; i < slots(p); i++)
        if (!place_is_broken(p, i))
            slot_look(p, i);
    for (int i = 0; i < slots(p); i++)
        if (place_is_broken(p, i))
            slot_look(p, i);
}

void jobs_hit(struct place *p, int gpu)
{
    struct job *j = &p->jobs[p->whole ? 0 : gpu];
    if (!j->runs)
        return;
    p->fleet->sums.killed_jobs++;
    job_lose(p, j);
}

void jobs_evict(struct place *p)
{
    for (int i = 0; i < slots(p); i++)
        if (p->jobs[i].runs) {
            p->fleet->sums.evictions++;
            job_lose(p, &p->jobs[i]);
        }
}

void jobs_end(struct place *p)
{
    for (int i = 0; i < slots(p); i++)
        if (p->jobs[i].runs)
            job_stop(p, &p->jobs[i]);
}

int jobs_running(const struct place *p)
{
    int running = 0;
    for (int i = 0; i < slots(p); i++)
        running += p->jobs[i].runs;
    return running;
}
