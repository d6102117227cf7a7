/* The network between clients and the API server: kube/transport.h over virtual time. A request takes its time to the server, the
 * answer its time back, frames of a watch come in order; on the way happens what the plan of faults says. Bytes reach a client
 * only when it asks for them, in a turn of its loop. */
#ifndef OSTLER_SIM_WORLD_WIRE_H
#define OSTLER_SIM_WORLD_WIRE_H

#include "kube/transport.h"
#include "sim/api/api.h"
#include "sim/world/faults.h"
#include "sim/world/sim.h"

struct wire;
struct wire_client;

/* What a client takes of an answer, in this order: status, bytes, end. */
enum wire_part {
    WIRE_STATUS, /* its head; `status` */
    WIRE_BYTES,  /* some bytes of its body, cut anywhere */
    WIRE_END,    /* nothing comes after it; `status`, and `broken`: it did not come whole */
};

/* All borrowed. */
struct wire_taken {
    enum wire_part part;
    const struct request *request; /* what is answered */
    uint64_t id;                   /* of the request; another one for each */
    int status;                    /* 0: none came */
    const char *bytes;
    size_t len;
    bool broken;
};

struct wire_options {
    struct sim *sim;             /* borrowed, as all here */
    struct api *api;
    struct fault_plan *faults;   /* NULL: nothing goes wrong */
    int64_t latency_min_ms, latency_max_ms; /* of one way */
    uint64_t split_one_in;       /* bytes come in two pieces, cut anywhere, once in so many; 0: never */
    /* A request leaves its client. May be NULL. */
    void (*sent)(void *arg, struct wire_client *c, const struct request *r);
    /* It has reached the server and is about to be carried out. May be NULL. */
    void (*arrived)(void *arg, struct wire_client *c, const struct request *r);
    /* A client takes a part of an answer; called before the client's sink gets it. May be NULL. */
    void (*taken)(void *arg, const struct wire_client *c, const struct wire_taken *t);
    void *arg;
};

struct wire_counts {
    uint64_t requests[REQUEST_LEASE + 1]; /* that reached the server, by class */
    uint64_t refused;                     /* that found it away */
    uint64_t forbidden;                   /* that it answered with 403 */
    uint64_t deliveries;                  /* of frames, each of one event or more */
};

/* Registers with the api for its commits: the wire must live as long as they come. */
struct wire *wire_new(const struct wire_options *o);
/* After all its clients. */
void wire_free(struct wire *w);
/* What was carried so far. Borrowed. */
const struct wire_counts *wire_counts(const struct wire *w);
/* Until when a client may wait for an answer that will not come. */
int64_t wire_lost_until(const struct wire *w);

/* The API server goes away, with all its connections, or is back. */
void wire_set_away(struct wire *w, bool away);
/* From here on watches of this kind (NULL: of every kind) bring nothing, as from a server that has fallen behind; until
 * wire_thaw(). */
void wire_freeze(struct wire *w, const struct kind *kind);
/* Ends wire_freeze(): watches bring what they held back. */
void wire_thaw(struct wire *w);
/* Watches of this kind (NULL: of every kind) are told that their version is too old, and end; so are new ones from before now. */
void wire_gone(struct wire *w, const struct kind *kind);
/* The server forgets what was before now, and tells no stream: who asks for it by a watch is told so in the stream (410). */
void wire_forget(struct wire *w);
/* Lists are answered as of this version, as by a replica that is behind; 0: as they are. */
void wire_list_from(struct wire *w, uint64_t rv);
/* Whether the server is away, or shows what is old. */
bool wire_is_troubled(const struct wire *w);

struct wire_client_options {
    const char *user;       /* who the server takes it for; borrowed, and lives as long as the wire */
    const char *user_agent; /* as `user` */
    /* Something has come: wire_client_deliver() has work. */
    void (*news)(void *arg);
    /* A fault ends the client's process: end it. Never called from wire_client_deliver(): see wire_client_is_cut(). */
    void (*die)(void *arg);
    void *arg;
};

/* A client with connections of its own; owned by the caller. */
struct wire_client *wire_client_new(struct wire *w, const struct wire_client_options *o);
/* Nothing comes in or goes out any more; what was sent may still reach the server. */
void wire_client_free(struct wire_client *c);
/* The seam that its requests go through. Borrowed. */
const struct transport *wire_client_transport(const struct wire_client *c);
/* Another number for each client of a wire, from 1. */
uint64_t wire_client_number(const struct wire_client *c);
/* Gives what has come to its sinks. */
void wire_client_deliver(struct wire_client *c);
/* From here on nothing that it sends gets anywhere, and nothing comes to it, as for a process that has ended. */
void wire_client_cut(struct wire_client *c);
/* Whether wire_client_cut() was called or a fault has cut it. */
bool wire_client_is_cut(const struct wire_client *c);

#endif
