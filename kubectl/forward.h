/* `kubectl port-forward` to a pod, as a program beside this one. It listens on 127.0.0.1 only. */
#ifndef OSTLER_KUBECTL_FORWARD_H
#define OSTLER_KUBECTL_FORWARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "kubectl/options.h"

/* Zero-initialised = none. */
struct forward {
    pid_t pid; /* 0: it does not run */
    int output;
    struct buf text; /* what it has printed, until it listens; then only complaints */
    int port;        /* on which it listens; 0: not yet */
};

/* Starts it for a port of a pod. `local_port` 0: a free one. */
int forward_start(struct forward *f, const struct gpu_options *o, const char *ns, const char *pod,
                  int local_port, struct err *e);
/* Reads what it printed; false: it has ended. */
bool forward_look(struct forward *f);
/* What it last complained of; "": nothing. Borrowed until the next look. */
const char *forward_complaint(const struct forward *f);
/* Whether the page answers through it. It waits for some seconds at most. */
bool forward_answers(const struct forward *f);
/* Ends it and frees its memory. */
void forward_end(struct forward *f);

#endif
