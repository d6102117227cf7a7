#include "node/operand/reset.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "node/inventory/pci.h"
#include "node/operand/place.h"

#define DEVICES "sys/bus/pci/devices"
#define MODULES "sys/module"

/* STEP_MS: between looks at what has not ended. RESULT_MAX: for 16 sentences. SHOWN_MAX: of an
 * argument that is no address. */
enum { STEP_MS = 20, RESULT_MAX = 4096, SHOWN_MAX = 40, PATH_LEN = 128 };

/* A GPU to reset. */
struct card {
    const char *address;
    const char *why; /* why it is not reset, from the arena or static; NULL: nothing so far */
    pid_t pid;       /* the process that resets it; 0: none */
};

struct cards {
    struct card items[RESET_GPUS_MAX];
    size_t len;
};

/* ---- which GPUs may be reset */

/* A file of a driver's directory, or of a module, that cannot be read counts as loaded. */
static const char *reset_module_objection(struct view *v, const char *module)
{
    mode_t type;
    /* Without the directory, every module would seem absent. */
    int why = root_type(v->root, MODULES, &type);
    if (why == 0)
        why = root_type(v->root, arena_printf(&v->arena, MODULES "/%s", module), &type);
    else if (why == ENOENT)
        why = ENOTDIR;
    if (why == ENOENT)
        return NULL;
    return why == 0
               ? arena_printf(&v->arena,
                              "has a driver: the module %s is loaded, and must be unloaded first",
                              module)
               : arena_printf(&v->arena, "may have a driver: cannot read " MODULES ": %s",
                              strerror(why));
}

static const char *device_objection(struct view *v, const struct pci_bus *bus, const char *address)
{
    mode_t type;
    const struct pci_device *gpu = pci_find(&bus->gpus, address);
    if (!gpu && pci_find(&bus->switches, address))
        return "is a switch between GPUs: only a reboot resets it";
    if (!gpu)
        return bus->gpus.known ? "is no GPU of this machine, or has fallen off the bus"
                               : "cannot be found: the PCI bus cannot be read";
    /* Any driver: a virtual machine uses a GPU through vfio-pci. */
    if (gpu->driver)
        return arena_printf(&v->arena, "has the driver %s, which must be unloaded first",
                            gpu->driver);
    const char *objection = reset_module_objection(v, gpu->vendor->module);
    if (objection)
        return objection;
    /* The kernel creates the file only for devices that it can reset (pci_reset_supported()). */
    return root_type(v->root, arena_printf(&v->arena, DEVICES "/%s/reset", address), &type) == 0 &&
                   S_ISREG(type)
               ? NULL
               : "offers no reset: only a reboot helps";
}

static void cards_choose(struct view *v, const struct reset *r, struct cards *ret)
{
    struct pci_bus bus = { 0 };
    pci_look(v, &bus);
    for (size_t i = 0; i < r->count && i < RESET_GPUS_MAX; i++) {
        const char *address = r->addresses[i];
        struct card *c = &ret->items[ret->len++];
        if (pci_is_address(address))
            *c = (struct card){ .address = address, .why = device_objection(v, &bus, address) };
        else
            *c = (struct card){ .address = str_or_empty(
                                    part_shown(&v->arena, part_of(address), SHOWN_MAX)),
                                .why = "is no PCI address" };
    }
}

/* ---- the reset */

/* In a process of its own: the kernel may take minutes for a broken GPU, and no signal ends it. */
static void card_start(const struct root *root, const struct reset *r, struct card *c)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, DEVICES "/%s/reset", c->address);
    c->pid = fork();
    if (c->pid == 0)
        _exit(r->write(root, path, "1"));
    if (c->pid < 0) {
        c->why = "was not reset: no process could be started";
        c->pid = 0;
    }
}

/* Takes the result if the process has ended. */
static void card_reap(struct view *v, struct card *c)
{
    int status;
    if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
        return;
    c->pid = 0;
    int why = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    /* ENOTTY: no method worked, or the GPU did not become ready after one. */
    if (why == ENOTTY)
        c->why = "was not reset: every method of the kernel failed: only a reboot helps";
    else if (why)
        c->why = arena_printf(&v->arena, "was not reset: %s", strerror(why));
}

static void cards_reset(struct view *v, const struct reset *r, struct cards *cards)
{
    int64_t end_ms = clock_now_ms() + r->limit_ms;
    size_t running;
    for (size_t i = 0; i < cards->len; i++)
        if (!cards->items[i].why)
            card_start(v->root, r, &cards->items[i]);
    do {
        poll(NULL, 0, STEP_MS);
        running = 0;
        for (size_t i = 0; i < cards->len; i++) {
            card_reap(v, &cards->items[i]);
            running += cards->items[i].pid != 0;
        }
    } while (running && clock_now_ms() < end_ms);
    for (size_t i = 0; i < cards->len; i++) {
        struct card *c = &cards->items[i];
        if (!c->pid)
            continue;
        kill(c->pid, SIGKILL);
        c->why = arena_printf(&v->arena, "has not ended its reset after %d seconds",
                              (int) (r->limit_ms / 1000));
    }
}

/* Looks once at the bus. Returns how many GPUs that were reset do not respond, and, at the end of
 * the time, says so of each. */
static size_t cards_silent(struct view *v, struct cards *cards, bool is_last)
{
    CLEANUP_VIEW struct view now = { .root = v->root };
    struct pci_bus bus = { 0 };
    size_t silent = 0;
    pci_look(&now, &bus);
    for (size_t i = 0; i < cards->len; i++) {
        struct card *c = &cards->items[i];
        const struct pci_device *gpu = c->why ? NULL : pci_find(&bus.gpus, c->address);
        if (c->why || (gpu && gpu->bus != BUS_SILENT))
            continue;
        silent++;
        if (is_last)
            c->why = "does not respond after its reset: only a reboot helps";
    }
    return silent;
}

static void cards_await(struct view *v, const struct reset *r, struct cards *cards)
{
    int64_t end_ms = clock_now_ms() + r->back_ms;
    while (cards_silent(v, cards, clock_now_ms() >= end_ms) > 0)
        poll(NULL, 0, STEP_MS);
}

/* ---- the result */

/* Appends the GPUs that were reset, or the sentences about the others; returns their number. */
static size_t tell(const struct cards *cards, bool reset, struct buf *ret)
{
    size_t told = 0;
    for (size_t i = 0; i < cards->len; i++) {
        const struct card *c = &cards->items[i];
        if (!c->why != reset)
            continue;
        if (reset)
            buf_printf(ret, "%s%s", told ? ", " : "reset ", c->address);
        else
            buf_printf(ret, "%s%s %s", ret->len ? "; " : "", c->address, c->why);
        told++;
    }
    return told;
}

int reset_run(const struct root *root, const struct reset *r, struct err *e)
{
    CLEANUP_VIEW struct view v = { .root = root };
    CLEANUP_BUF struct buf result = BUF_INIT(RESULT_MAX);
    struct cards cards = { .len = 0 };
    cards_choose(&v, r, &cards);
    cards_reset(&v, r, &cards);
    cards_await(&v, r, &cards);
    tell(&cards, true, &result);
    if (tell(&cards, false, &result) > 0)
        return err_set(e, ERR_CONFLICT, "%s", buf_text(&result));
    fprintf(stderr, "%s\n", buf_text(&result));
    place_last_words(r->words, buf_text(&result));
    return 0;
}
