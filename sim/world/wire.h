/* The simulated network between clients and the API server: kube/transport.h over virtual time.
 * Requests and responses have latencies, frames of a watch keep their order, and faults strike as
 * planned. A client receives bytes only when it asks for them, in a turn of its loop. */
#ifndef OSTLER_SIM_WORLD_WIRE_H
#define OSTLER_SIM_WORLD_WIRE_H

#include "kube/transport.h"
#include "sim/api/api.h"
#include "sim/world/faults.h"
#include "sim/world/sim.h"

struct wire;
struct wire_client;

/* Parts of a response in order: status, bytes, end. */
enum wire_part {
    WIRE_STATUS, /* its head; `status` */
    WIRE_BYTES,  /* some bytes of its body, split anywhere */
    WIRE_END,    /* the last part; `status`, and `broken`: the response is incomplete */
};

/* All members are borrowed. */
struct wire_taken {
    enum wire_part part;
    const struct request *request; /* the request that it belongs to */
    uint64_t id;                   /* of the request; unique */
    int status;                    /* 0: none */
    const char *bytes;
    size_t len;
    bool broken;
};

struct wire_options {
    struct sim *sim; /* borrowed, like all members */
    struct api *api;
    struct fault_plan *faults;              /* NULL: no faults */
    int64_t latency_min_ms, latency_max_ms; /* one way */
    /* bytes arrive in two pieces, split anywhere, once in so many; 0: never */
    uint64_t split_one_in;
    /* A client sends a request. May be NULL. */
    void (*sent)(void *arg, struct wire_client *c, const struct request *r);
    /* A request has reached the server, which executes it next. May be NULL. */
    void (*arrived)(void *arg, struct wire_client *c, const struct request *r);
    /* A client takes a part of a response; called before the client's sink. May be NULL. */
    void (*taken)(void *arg, const struct wire_client *c, const struct wire_taken *t);
    void *arg;
};

struct wire_counts {
    uint64_t requests[REQUEST_LEASE + 1]; /* that reached the server, by class */
    uint64_t refused;                     /* sent while the server was away */
    uint64_t forbidden;                   /* answered with 403 */
    uint64_t deliveries;                  /* of frames, each with one or more events */
    int64_t lost_until_ms; /* the latest time until which a client may wait for a lost response */
};

/* Subscribes to commits of the api: the wire must live as long as they come. */
struct wire *wire_new(const struct wire_options *o);
/* Call it after all clients are freed. */
void wire_free(struct wire *w);
/* Counters so far. Borrowed. */
const struct wire_counts *wire_counts(const struct wire *w);

/* Takes the API server away with all its connections, or brings it back. */
void wire_set_away(struct wire *w, bool away);
/* From now on watches of this kind (NULL: every kind) deliver nothing, like a stale server, until
 * wire_thaw(). */
void wire_freeze(struct wire *w, const struct kind *kind);
/* Ends wire_freeze(): watches deliver what they held back. */
void wire_thaw(struct wire *w);
/* Watches of this kind (NULL: every kind) get "too old resource version" and end; so do new watches
 * from before now. */
void wire_gone(struct wire *w, const struct kind *kind);
/* The server drops its history before now without notice to streams: a watch from there gets 410 in
 * the stream. */
void wire_forget(struct wire *w);
/* Lists show the state of this version, like a stale replica; 0: the current state. */
void wire_list_from(struct wire *w, uint64_t rv);
/* Whether the server is away or shows old data. */
bool wire_is_troubled(const struct wire *w);

struct wire_client_options {
    const char *user;       /* its user at the server; borrowed for the life of the wire */
    const char *user_agent; /* like `user` */
    /* Data has arrived: call wire_client_deliver(). */
    void (*news)(void *arg);
    /* A fault ends the client's process: end it. Never called from wire_client_deliver(): see
     * wire_client_is_cut(). */
    void (*die)(void *arg);
    void *arg;
};

/* A client with its own connections; owned by the caller. */
struct wire_client *wire_client_new(struct wire *w, const struct wire_client_options *o);
/* Nothing more is received or sent; requests on their way may still reach the server. */
void wire_client_free(struct wire_client *c);
/* The transport for its requests. Borrowed. */
const struct transport *wire_client_transport(const struct wire_client *c);
/* A number unique among the clients of a wire, from 1. */
uint64_t wire_client_number(const struct wire_client *c);
/* Passes arrived data to its sinks. */
void wire_client_deliver(struct wire_client *c);
/* From now on it sends and receives nothing, like a process that has ended. */
void wire_client_cut(struct wire_client *c);
/* Whether wire_client_cut() was called or a fault has cut it. */
bool wire_client_is_cut(const struct wire_client *c);

#endif
