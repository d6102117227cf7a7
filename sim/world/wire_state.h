/* The internal state of the simulated network. Only for the wire*.c files. */
#ifndef OSTLER_SIM_WORLD_WIRE_STATE_H
#define OSTLER_SIM_WORLD_WIRE_STATE_H

#include "base/buf.h"
#include "sim/world/wire.h"

/* A watch that the server has accepted. */
struct stream {
    struct api_watch *watch;
    struct sim_event flush;    /* sends new data to the client */
    struct sim_event bookmark; /* sends a bookmark */
    struct sim_event end;      /* its timeout */
    bool silent;               /* delivers nothing more */
};

/* Limit of bytes that wait for a client. */
enum { WIRE_BYTES_MAX = 256 << 20 };

enum flight_phase {
    FLIGHT_GOING,   /* on the way to the server, which may execute it even if the client is gone */
    FLIGHT_SERVING, /* being executed */
    FLIGHT_RETURNING, /* answered or lost */
};

/* A request from its start until both sides are done with it. */
struct flight {
    struct flight *next, *prev; /* in wire.flights, oldest first */
    struct wire *wire;
    struct wire_client *client; /* NULL: no client waits for the response */
    const char *user, *user_agent;
    uint64_t id;
    struct request request;
    struct transport_sink sink;
    int64_t deadline_ms;    /* when the client gives up */
    struct sim_event event; /* its next step */
    enum flight_phase phase;
    const struct arrival *arrival; /* of its response; NULL: not on the way back */
    struct stream *stream;         /* NULL: not a watch, or its server is gone */
    /* Received by the client but not taken yet. */
    struct flight *next_news;
    bool in_news, status_due, ended;
    struct buf bytes;
    struct transport_result result;
};

struct wire_client {
    struct wire_client_options o;
    struct wire *wire;
    uint64_t number;
    struct transport transport;
    struct flight *news_head, *news_tail;
    bool cut;
};

struct wire {
    struct wire_options o;
    struct rng latency, cuts;
    struct flight *head, *tail;
    uint64_t last_id, clients;
    bool away, frozen;
    const struct kind *frozen_kind; /* NULL: all kinds */
    uint64_t list_rv;
    uint64_t *forgotten_rv; /* by kind_index(): a watch from before this version gets 410 */
    struct wire_counts counts;
};

/* ---- wire_server.c: the server's side */

/* Draws the latency of one way, in ms. */
int64_t wire_latency(struct wire *w);
/* A request reaches the server; `arg` is the flight. */
void wire_arrive(void *arg);

/* ---- wire_client.c: the client's side */

void flight_put(struct flight *f, const char *bytes, size_t n);
/* Removes the flight from the lists and frees it. */
void flight_free(struct flight *f);
/* Queues the flight for its client; frees it if there is none. */
void flight_report(struct flight *f);
/* Ends the response; `message` NULL: normally. */
void flight_end(struct flight *f, int status, enum err_kind kind, const char *message);
/* Removes the flight from its client's queue. */
void flight_leave_news(struct flight *f);

/* ---- wire_stream.c: watches */

/* The server has accepted a watch; takes ownership of it. */
void stream_open(struct flight *f, struct api_watch *watch_steal);
/* Frees a watch without notice to the client. */
void stream_free(struct wire *w, struct stream *s);
/* An object was committed: schedules delivery if the watch covers it. */
void stream_notice(struct flight *f, const struct api_commit *c);
/* Ends the stream; the client sees the end after what it has received. */
void stream_end(struct flight *f, enum err_kind kind, const char *message);
/* The server drops its history before now, reports that in the stream, and ends it. */
void stream_gone(struct flight *f);
/* Continues a stream that was held. */
void stream_wake(struct flight *f);

#endif
