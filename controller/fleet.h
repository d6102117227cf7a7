/* The fleet page in the operator: what its paths answer, and which frames its streams get. Changes
 * gather while a viewer looks, and become one frame in 250 ms with the newest of each node. While
 * no viewer looks, nothing is gathered and nothing is made. */
#ifndef OSTLER_CONTROLLER_FLEET_H
#define OSTLER_CONTROLLER_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/loop.h"
#include "serve/page.h"

struct fleet;
struct metrics;
struct server;

/* The texts that it shows, as in reconcilers/fleet_view.h. */
struct fleet_texts {
    void (*snapshot)(void *arg, const char *id, struct buf *out);
    bool (*row)(void *arg, const char *name, struct buf *out);
    void (*policy)(void *arg, struct buf *out);
    bool (*node)(void *arg, const char *name, struct buf *out);
    /* The time of which the texts are, in microseconds since 1970: now, unless it is blind. */
    int64_t (*as_of_us)(void *arg);
    /* Why there is nothing to show, as one sentence; NULL: there is. *ret_leader is then the pod
     * that leads, or NULL. Both are owned by the caller. */
    char *(*why_nothing)(void *arg, char **ret_leader);
    /* Whether this Ostler still hears of changes. */
    bool (*hears)(void *arg);
    void *arg;
};

/* All members are borrowed and must outlive the page. */
struct fleet_options {
    const char *listen; /* as in struct page_options */
    const char *hosts;
    const struct page_file *files;
    size_t file_count;
    const char *holder; /* the identity of this process: ids of frames begin with it */
    struct server *server;
    struct loop *loop;
    struct metrics *metrics;
    struct fleet_texts texts;
};

/* Starts to listen; NULL with an error that names the address. */
struct fleet *fleet_new(const struct fleet_options *o, struct err *e);
int fleet_port(const struct fleet *f);
/* A node has changed (NULL: the policy); no effect for NULL as page. */
void fleet_changed(struct fleet *f, const char *name);
/* Updates its metrics before a scrape. */
void fleet_update_metrics(struct fleet *f);
/* Call it after server_free(). NULL has no effect. */
void fleet_free(struct fleet *f);

#endif
