#include "sim/cluster.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/actors/actors.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "sim/edit_text.h"
#include "sim/kubeconfig.h"
#include "sim/scenario/scenario.h"
#include "sim/serve/certificate.h"
#include "sim/serve/front.h"

#define ADMIN "kubernetes-admin"
#define OSTLER_NAMESPACE "ostler-system"
#define OSTLER_USER "system:serviceaccount:" OSTLER_NAMESPACE ":ostler"
#define OPERAND_NAMESPACE "ostler-operands"

enum {
    TOKEN_BYTES = 24,
    ACTION_MAX = 1 << 20,
    STEPS_PER_TURN = 2000, /* events before clients are served again */
    WATCHES_MS = 1000,     /* real time between checks of watches for their end and bookmarks */
    /* a control plane keeps history for five minutes; clients do not run faster than real time */
    HISTORY_MS = 5 * 60 * 1000,
    HISTORY_REAL_MS = 60 * 1000,
};

enum { USER_ADMIN, USER_OSTLER, USER_COUNT };

/* A timed replacement of the scenario's rows. */
struct change_event {
    struct sim_event event;
    struct sim_cluster *cluster;
    const struct spec_change *change;
};

struct sim_cluster {
    const struct sim_options *options;
    struct clock real;
    int64_t began_ms; /* real */
    struct sim sim;
    struct scenario *scenario;
    struct spec_world world;
    struct api *api;
    struct access *access;
    struct actors *actors;
    struct change_event *changes;
    void (*told)(void *arg, const char *text); /* reports actions; NULL: no listener */
    void *told_arg;
    char *refused; /* the first object of the scenario that the API refuses, and why */
    struct certificate certificate;
    char *tokens[USER_COUNT];
    struct front_user users[USER_COUNT];
    struct front *front;
    bool written; /* the kubeconfigs exist; they are deleted with the cluster */
    char *server;
    uint64_t told_rv;     /* of the API, when watches were last continued */
    int64_t looked_at_ms; /* real: when watches were last checked */
};

static int64_t cluster_now_ms(void *arg)
{
    const struct sim_cluster *c = arg;
    return c->sim.now_ms;
}

static void on_action(void *arg, const struct spec_action *action, const struct refusal *refusal)
{
    const struct sim_cluster *c = arg;
    CLEANUP_BUF struct buf text = BUF_INIT(ACTION_MAX);
    action_text(action, refusal ? refusal->message : NULL, &text);
    if (c->told)
        c->told(c->told_arg, buf_text(&text));
}

static void on_refused(void *arg, const json_t *object, const struct refusal *refusal)
{
    struct sim_cluster *c = arg;
    if (!c->refused)
        c->refused = xasprintf("%s %s of `objects` is refused: %s",
                               json_str_or_empty(object, "kind"),
                               json_str_or_empty(object, "metadata.name"), refusal->message);
}

static void on_change(void *arg)
{
    const struct change_event *e = arg;
    actors_change(e->cluster->actors, e->change);
}

static void schedule_changes(struct sim_cluster *c)
{
    size_t n = c->scenario ? c->scenario->change_count : 0;
    c->changes = xcalloc(n ? n : 1, sizeof *c->changes);
    for (size_t i = 0; i < n; i++) {
        c->changes[i] = (struct change_event){ .event = { .fn = on_change, .arg = &c->changes[i] },
                                               .cluster = c,
                                               .change = &c->scenario->changes[i] };
        sim_at(&c->sim, &c->changes[i].event, c->scenario->changes[i].at_ms);
    }
}

/* The result of `helm install` that Ostler needs: CRDs, namespaces, RBAC of its account. */
static int install(struct sim_cluster *c, struct err *e)
{
    if (builtin_install(c->api, ADMIN, OSTLER_NAMESPACE, OPERAND_NAMESPACE, e) < 0)
        return -1;
    c->access = access_new();
    access_add_admin(c->access, ADMIN);
    api_set_access(c->api, c->access);
    return access_add_chart(c->access, OSTLER_NAMESPACE, OPERAND_NAMESPACE, e);
}

static int read_scenario(struct sim_cluster *c, struct err *e)
{
    if (c->options->scenario) {
        c->scenario = scenario_read(c->options->scenario, e);
        if (!c->scenario)
            return -1;
        c->world = c->scenario->world;
    }
    int64_t seed = c->options->seed >= 0 ? c->options->seed
                   : c->scenario         ? (int64_t) c->scenario->seed
                                         : 1;
    sim_init(&c->sim, (uint64_t) seed);
    if (c->scenario && c->scenario->begins_us) {
        c->sim.epoch_us = c->scenario->begins_us;
    } else {
        /* Clients compare times with the machine's clock. */
        c->sim.epoch_us = clock_wall_us(&c->real);
        c->sim.pace = c->options->speed;
    }
    return 0;
}

/* The address without its port; a wildcard address becomes the loopback address. */
static char *host_of(const char *listen)
{
    const char *colon = listen;
    for (const char *p = listen; *p; p++)
        if (*p == ':')
            colon = p;
    CLEANUP_FREE char *host = xstrndup(listen, (size_t) (colon - listen));
    return xstrdup(*host == '\0' || str_eq(host, "0.0.0.0") || str_eq(host, "[::]") ? "127.0.0.1"
                                                                                    : host);
}

static int listen_and_notify(struct sim_cluster *c, struct err *e)
{
    CLEANUP_FREE char *host = host_of(c->options->listen);
    if (certificate_make(host, &c->certificate, e) < 0)
        return -1;
    for (size_t i = 0; i < USER_COUNT; i++)
        c->tokens[i] = certificate_token(TOKEN_BYTES);
    c->users[USER_ADMIN] = (struct front_user){ c->tokens[USER_ADMIN], ADMIN };
    c->users[USER_OSTLER] = (struct front_user){ c->tokens[USER_OSTLER], OSTLER_USER };
    const struct front_options f = { .listen = c->options->listen,
                                     .certificate = c->certificate.certificate,
                                     .key = c->certificate.key,
                                     .users = c->users,
                                     .user_count = USER_COUNT,
                                     .api = c->api,
                                     .now_ms = cluster_now_ms,
                                     .now_arg = c };
    c->front = front_new(&f, e);
    if (!c->front)
        return -1;
    c->server = xasprintf("https://%s:%d", host, front_port(c->front));
    struct kubeconfig ostler = { c->server, c->certificate.certificate, "ostler",
                                 c->tokens[USER_OSTLER] };
    if (c->options->ostler_kubeconfig &&
        kubeconfig_write(c->options->ostler_kubeconfig, &ostler, e) < 0)
        return -1;
    struct kubeconfig admin = { c->server, c->certificate.certificate, ADMIN,
                                c->tokens[USER_ADMIN] };
    /* Last: who waits for this file finds all of it ready. */
    return kubeconfig_write(c->options->kubeconfig, &admin, e);
}

/* Creates the actors and the initial objects. */
static int populate(struct sim_cluster *c, struct err *e)
{
    c->actors = actors_new(&c->sim, c->api,
                           &(struct actors_options){ .world = &c->world,
                                                     .without = c->options->api_only ? ~0U : 0,
                                                     .events = true,
                                                     .done = on_action,
                                                     .refused = on_refused,
                                                     .arg = c });
    schedule_changes(c);
    return c->refused ? err_set(e, ERR_INVALID, "%s: %s", c->options->scenario, c->refused) : 0;
}

struct sim_cluster *sim_cluster_new(const struct sim_options *options, struct err *e)
{
    struct sim_cluster *c = xcalloc(1, sizeof *c);
    c->options = options;
    c->real = clock_system();
    if (read_scenario(c, e) < 0)
        goto fail;
    c->api = api_new(&c->sim.clock);
    api_share_parts(c->api);
    if (install(c, e) < 0)
        goto fail;
    if (populate(c, e) < 0)
        goto fail;
    api_compact(c->api, api_rv(c->api)); /* a new server has no history */
    if (listen_and_notify(c, e) < 0)
        goto fail;
    c->written = true;
    c->began_ms = clock_mono_ms(&c->real);
    return c;
fail:
    sim_cluster_free(c);
    return NULL;
}

void sim_cluster_free(struct sim_cluster *c)
{
    if (!c)
        return;
    front_free(c->front);
    if (c->written)
        unlink(c->options->kubeconfig);
    if (c->written && c->options->ostler_kubeconfig)
        unlink(c->options->ostler_kubeconfig);
    if (c->actors)
        actors_free(c->actors);
    sim_clear(&c->sim);
    if (c->api)
        api_free(c->api);
    if (c->access)
        access_free(c->access);
    scenario_free(c->scenario);
    certificate_clear(&c->certificate);
    for (size_t i = 0; i < USER_COUNT; i++)
        free(c->tokens[i]);
    free(c->changes);
    free(c->refused);
    free(c->server);
    free(c);
}

void sim_cluster_on_action(struct sim_cluster *c, void (*told)(void *arg, const char *text),
                           void *arg)
{
    c->told = told;
    c->told_arg = arg;
}

/* Runs the events that are due; false if some are left. */
static bool catch_up(struct sim_cluster *c, int64_t real_ms)
{
    int64_t until = (int64_t) ((double) (real_ms - c->began_ms) * c->options->speed);
    for (int i = 0; i < STEPS_PER_TURN; i++)
        if (!sim_step(&c->sim, until))
            return true;
    return false;
}

static void notify_watches(struct sim_cluster *c, int64_t real_ms)
{
    if (api_rv(c->api) == c->told_rv && real_ms - c->looked_at_ms < WATCHES_MS)
        return;
    c->told_rv = api_rv(c->api);
    c->looked_at_ms = real_ms;
    front_wake(c->front);
}

static void forget_history(struct sim_cluster *c, int64_t real_ms)
{
    double keep_ms = HISTORY_MS / c->options->speed;
    api_forget_older(c->api, real_ms - c->began_ms,
                     keep_ms > HISTORY_REAL_MS ? (int64_t) keep_ms : HISTORY_REAL_MS);
}

int sim_cluster_turn(struct sim_cluster *c, int64_t at_most_ms)
{
    int64_t real_ms = clock_mono_ms(&c->real), wait_ms = 0;
    if (catch_up(c, real_ms)) {
        int64_t next = sim_next(&c->sim);
        wait_ms = at_most_ms < WATCHES_MS ? at_most_ms : WATCHES_MS;
        if (next != INT64_MAX &&
            (double) (next - c->sim.now_ms) / c->options->speed < (double) wait_ms)
            wait_ms = (int64_t) ((double) (next - c->sim.now_ms) / c->options->speed) + 1;
    }
    notify_watches(c, real_ms);
    forget_history(c, real_ms);
    return front_run_once(c->front, wait_ms);
}

struct sim_cluster_view sim_cluster_view(const struct sim_cluster *c)
{
    return (struct sim_cluster_view){ .clock = &c->sim.clock,
                                      .api = c->api,
                                      .server = c->server,
                                      .name = c->scenario ? str_or_empty(c->scenario->name) : "" };
}
