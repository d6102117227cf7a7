/* Runs a simulated cluster on a port until a signal. */
#include "sim/ostler_sim.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/cluster.h"
#include "sim/options.h"
#include "sim/story.h"
#include "sim/view.h"

enum {
    TURN_MS = 100,     /* between updates of the view */
    REMIND_MS = 20000, /* between reminders of how to connect, among lines */
    PICTURE_MAX = 4 << 20,
    LARGE_BYTES = 12 << 10,
};

static volatile sig_atomic_t stopped;

static void main_on_signal(int number)
{
    (void) number;
    stopped = 1;
}

static void set_up_signals(void)
{
    const struct sigaction stop = { .sa_handler = main_on_signal };
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    /* A closed terminal ends it too, unless nohup ignores the signal. */
    struct sigaction closed;
    if (sigaction(SIGHUP, NULL, &closed) == 0 && closed.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Prints an action of the scenario if there is no view. */
static void on_action_alone(void *arg, const char *text)
{
    int64_t s = clock_mono_ms(sim_cluster_view(arg).clock) / 1000;
    printf("%02d:%02d:%02d  %s\n", (int) (s / 3600), (int) (s / 60 % 60), (int) (s % 60), text);
    fflush(stdout);
}

static void on_action(void *arg, const char *text)
{
    sim_view_report(arg, text);
}

static void on_action_of_story(void *arg, const char *text)
{
    sim_story_action(arg, text);
}

static void print_line(void *arg, const char *line)
{
    (void) arg;
    printf("%s\n", line);
    fflush(stdout);
}

static void show(struct view *v)
{
    CLEANUP_BUF struct buf out = BUF_INIT(PICTURE_MAX);
    struct winsize size = { .ws_col = 120, .ws_row = 50 };
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    sim_view_show(v, size.ws_col, size.ws_row, &out);
    fwrite(buf_text(&out), 1, out.len, stdout);
    fflush(stdout);
}

static void print_address(const char *door)
{
    printf("ostler-sim: %s\n", door);
    fflush(stdout);
}

/* `door`: the reminder of how to connect. */
static int main_run(struct sim_cluster *c, const struct sim_options *o, struct view *v,
                    const char *door)
{
    const struct clock *virtual = sim_cluster_view(c).clock;
    const struct clock real = clock_system();
    bool lines = v && !isatty(STDOUT_FILENO);
    int64_t shown_ms = 0, said_ms = clock_mono_ms(&real);
    while (!stopped && (o->duration_ms == 0 || clock_mono_ms(virtual) < o->duration_ms)) {
        if (sim_cluster_turn(c, TURN_MS) < 0)
            return 1;
        int64_t now = clock_mono_ms(&real);
        if (v && now - shown_ms >= TURN_MS) {
            shown_ms = now;
            show(v);
        }
        if (lines && now - said_ms >= REMIND_MS) {
            said_ms = now;
            print_address(door);
        }
    }
    if (v)
        show(v);
    return 0;
}

/* Serves, and prints nothing but the story. */
static int main_tell(struct sim_cluster *c, const struct sim_options *o)
{
    const struct clock real = clock_system();
    struct story *s = sim_story_new(&(struct story_options){
        .api = sim_cluster_view(c).api, .clock = &real, .tell = print_line });
    sim_cluster_on_action(c, on_action_of_story, s);
    int rc = main_run(c, o, NULL, "");
    sim_story_free(s);
    return rc;
}

/* Serves, and prints how to connect and what is shown. */
static int main_show(struct sim_cluster *c, const struct sim_options *o)
{
    bool picture = o->show && isatty(STDOUT_FILENO);
    const struct sim_cluster_view shown = sim_cluster_view(c);
    CLEANUP_FREE char *head = xasprintf("%s  %s  (x%g)  Ctrl-C stops it", shown.name, shown.server,
                                        o->speed);
    CLEANUP_FREE char *door = xasprintf("in a second terminal: export KUBECONFIG=%s",
                                        o->kubeconfig);
    struct view *v = o->show ? sim_view_new(&(struct view_options){ .api = shown.api,
                                                                    .clock = shown.clock,
                                                                    .picture = picture,
                                                                    .head = head,
                                                                    .door = door })
                             : NULL;
    sim_cluster_on_action(c, v ? on_action : on_action_alone, v ? (void *) v : (void *) c);
    printf("%sostler-sim: the API server is at %s; Ctrl-C stops it and deletes the file\n",
           picture ? "\033[?25l\033[2J\033[H" : "", shown.server);
    print_address(door);
    int rc = main_run(c, o, v, door);
    if (picture)
        printf("\033[?25h\n");
    if (v)
        sim_view_free(v);
    return rc;
}

/* Large blocks get pages of their own. Otherwise each buffer of a watch makes the heap longer, and
 * leaves a hole there that parts of objects fill: the heap would grow for days. */
static void keep_buffers_apart(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

static int main_serve(const struct sim_options *o)
{
    keep_buffers_apart();
    CLEANUP_ERR struct err e = { 0 };
    struct sim_cluster *c = sim_cluster_new(o, &e);
    if (!c) {
        fprintf(stderr, "ostler-sim: %s\n", err_msg(&e));
        return 1;
    }
    int rc = o->tell ? main_tell(c, o) : main_show(c, o);
    sim_cluster_free(c);
    return rc;
}

int ostler_sim_main(int argc, char **argv)
{
    mem_hook_jansson();
    struct sim_options o;
    CLEANUP_ERR struct err e = { 0 };
    if (sim_options_parse(argc, argv, &o, &e) < 0) {
        fprintf(stderr, "ostler-sim: %s\n", err_msg(&e));
        return 2;
    }
    log_setup(o.log_level, false);
    if (o.help)
        sim_options_help();
    else if (o.version)
        printf("%s\n", sim_options_version());
    if (o.help || o.version)
        return 0;
    set_up_signals();
    return main_serve(&o);
}
