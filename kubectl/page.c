#include "kubectl/page.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kubectl/forward.h"
#include "kubectl/gather.h"
#include "reconcilers/view/snapshot.h"

enum {
    LOOK_MS = 200,
    READY_LOOKS = 100, /* 20 s for a connection to a pod */
    ANSWER_LOOKS = 25, /* 5 s for the page to answer through it */
    RETRY_MS = 2000,
};

extern char **environ;

/* The page's address and the connection behind it. */
struct showing {
    struct ask *a;
    const struct gpu_options *o;
    struct forward forward;
    int port;      /* the browser keeps it while the leader changes; 0: not known yet */
    bool shown;    /* the address was printed */
    char *pod;     /* of the leader. Owned */
    char *trouble; /* what was last said of a lost leader; NULL: nothing. Owned */
};

/* ---- who leads */

/* The pod of the leader, whose identity is the pod's name and what makes it unique. */
static int find_leader(struct showing *s, struct err *e)
{
    CLEANUP_JSON json_t *snapshot = gather(s->a, s->o, &(struct gathering){ SEE_LEASE, 0, NULL },
                                           e);
    if (!snapshot)
        return -1;
    CLEANUP_JSON json_t *ostler = snapshot_ostler(snapshot, ask_now_us(s->a));
    const char *holder = json_str_or_empty(ostler, "holder"), *end = strrchr(holder, '_');
    const char *state = json_str(ostler, "state"), *message = json_str(ostler, "message");
    if (str_eq(state, "Unknown"))
        return err_set(e, ERR_FORBIDDEN, "cannot find the Ostler that leads: %s", message);
    if (!str_eq(state, "Alive"))
        return err_set(e, ERR_NOT_FOUND, "no Ostler leads: %s", message);
    free(TAKE(s->pod));
    s->pod = xstrndup(holder, end ? (size_t) (end - holder) : strlen(holder));
    if (!snapshot_is_name(s->pod))
        return err_set(e, ERR_INVALID, "the leader %s is not a pod", s->pod);
    return 0;
}

/* ---- the connection */

static int connection_failed(const struct showing *s, const char *ns, struct err *e)
{
    const char *why = forward_complaint(&s->forward);
    CLEANUP_FREE char *first = xstrndup(why, strcspn(why, "\n"));
    if (strstr(first, "(NotFound): pods "))
        return err_set(e, ERR_NOT_FOUND,
                       s->shown ? "pod %s/%s is gone"
                                : "there is no pod %s/%s: Ostler runs outside of the cluster, and "
                                  "its page is where it runs; make run prints the page's address",
                       ns, s->pod);
    return err_set(e, ERR_FORBIDDEN,
                   "cannot connect to pod %s/%s: %s; it takes the rights to get pods and to create "
                   "pods/portforward there",
                   ns, s->pod, *first ? first : "kubectl port-forward does not answer");
}

static int wait_for_page(struct showing *s, const char *ns, struct err *e)
{
    for (int i = 0; s->forward.port == 0; i++) {
        if (!forward_look(&s->forward) || i == READY_LOOKS)
            return connection_failed(s, ns, e);
        if (!ask_wait(s->a, s->forward.port ? 0 : LOOK_MS))
            return 0;
    }
    s->port = s->forward.port;
    for (int i = 0; !forward_answers(&s->forward); i++) {
        if (!forward_look(&s->forward) || i == ANSWER_LOOKS)
            return err_set(e, ERR_NOT_FOUND,
                           "pod %s/%s serves no page on port %d: see fleetPage in the chart's "
                           "values, and --fleet-listen in its log",
                           ns, s->pod, PAGE_PORT);
        if (!ask_wait(s->a, LOOK_MS))
            return 0;
    }
    return 0;
}

static int page_connect(struct showing *s, struct err *e)
{
    const char *ns = ask_namespace(s->a, e);
    if (!ns || find_leader(s, e) < 0)
        return -1;
    int local = s->port ? s->port : (int) s->o->port;
    if (forward_start(&s->forward, s->o, ns, s->pod, local, e) < 0)
        return -1;
    if (wait_for_page(s, ns, e) == 0)
        return 0;
    forward_end(&s->forward);
    return -1;
}

/* ---- the browser */

/* Whether there is a screen to open a browser on. */
static bool page_has_screen(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* The address is printed: without an opener the user opens it. */
static void open_browser(const char *address)
{
    static const char *const openers[] = { "xdg-open", "open" };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    for (size_t i = 0; i < ARRAY_LEN(openers); i++) {
        const char *const words[] = { openers[i], address, NULL };
        if (posix_spawnp(&pid, openers[i], &actions, &attributes, (char *const *) words, environ) ==
            0)
            break;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
}

static void print_address(struct showing *s)
{
    CLEANUP_FREE char *address = xasprintf("http://127.0.0.1:%d/", s->port);
    CLEANUP_FREE char *pod = terminal_clean(s->pod);
    if (s->shown) {
        fprintf(stderr, "kubectl gpu: the page now comes from pod %s\n", pod);
        return;
    }
    s->shown = true;
    printf("%s\n", address);
    fflush(stdout);
    fprintf(stderr, "kubectl gpu: the page comes from pod %s; Ctrl-C ends it\n", pod);
    if (!s->o->no_browser && page_has_screen())
        open_browser(address);
}

/* ---- until Ctrl-C */

/* Says once why there is no page now, and that it tries again. */
static void print_lost(struct showing *s, const char *why)
{
    CLEANUP_FREE char *clean = terminal_clean(why);
    if (!str_eq(s->trouble, clean))
        fprintf(stderr, "kubectl gpu: %s; trying again\n", clean);
    xstrset(&s->trouble, clean);
}

/* Stays while the connection lasts; false: a signal stopped it. */
static bool stay(struct showing *s)
{
    while (forward_look(&s->forward))
        if (!ask_wait(s->a, LOOK_MS))
            return false;
    return !ask_stopped(s->a);
}

static int page_run(struct showing *s, struct err *e)
{
    while (!ask_stopped(s->a)) {
        if (page_connect(s, e) == 0) {
            if (ask_stopped(s->a))
                return 0;
            print_address(s);
            free(TAKE(s->trouble));
            if (!stay(s))
                return 0;
            print_lost(s, "the connection is lost");
            forward_end(&s->forward);
        } else if (!s->shown) {
            return ask_stopped(s->a) ? 0 : -1;
        } else {
            print_lost(s, err_msg(e));
            err_clear(e);
            ask_wait(s->a, RETRY_MS);
        }
    }
    return 0;
}

int page_show(struct ask *a, const struct gpu_options *o, struct err *e)
{
    struct showing s = { .a = a, .o = o };
    int rc = ask_take_signals(a, e);
    if (rc == 0)
        rc = page_run(&s, e);
    forward_end(&s.forward);
    free(s.pod);
    free(s.trouble);
    return rc;
}
