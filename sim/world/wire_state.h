/* What the network is made of. Shared by wire.c and wire_stream.c only. */
#ifndef OSTLER_SIM_WORLD_WIRE_STATE_H
#define OSTLER_SIM_WORLD_WIRE_STATE_H

#include "base/buf.h"
#include "sim/world/wire.h"

/* A watch that the server has accepted. */
struct stream {
    struct api_watch *watch;
    struct sim_event flush;    /* news goes to the client */
    struct sim_event bookmark; /* the server says how far it is */
    struct sim_event end;      /* its time is over */
    bool silent;               /* nothing comes any more */
};

/* Most bytes that wait for a client at a time. */
enum { WIRE_BYTES_MAX = 256 << 20 };

enum flight_phase {
    FLIGHT_GOING,     /* to the server, which may see it even when nobody waits any more */
    FLIGHT_SERVING,   /* being carried out at this moment */
    FLIGHT_RETURNING, /* answered, or lost */
};

/* A request from its start until both sides have forgotten it. */
struct flight {
    struct flight *next, *prev; /* in wire.flights, oldest first */
    struct wire *wire;
    struct wire_client *client; /* NULL: nobody waits for the answer any more */
    const char *user, *user_agent;
    uint64_t id;
    struct request request;
    struct transport_sink sink;
    int64_t deadline_ms;    /* when the client gives up */
    struct sim_event event; /* what happens to it next */
    enum flight_phase phase;
    struct stream *stream;  /* NULL: no watch, or one whose server has gone */
    /* What the client has got and not taken yet. */
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
    const struct kind *frozen_kind; /* NULL: all */
    uint64_t list_rv;
    int64_t lost_until_ms;
    uint64_t *forgotten_rv;         /* by kind_index(): a watch from before it finds its history gone */
    struct wire_counts counts;
};

/* ---- wire.c: the server's side */

/* How long the next way takes, in ms. */
int64_t wire_latency(struct wire *w);
/* A request reaches the server; `arg` is the flight. */
void wire_arrive(void *arg);

/* ---- wire_client.c: the client's side */

/* Adds bytes for the client. */
void flight_put(struct flight *f, const char *bytes, size_t n);
/* Takes the flight out of the world and frees it. */
void flight_free(struct flight *f);
/* What the flight holds is to be taken by its client; f is freed where there is none. */
void flight_tell(struct flight *f);
/* The end of the answer: `message` NULL: as it should be. */
void flight_end(struct flight *f, int status, enum err_kind kind, const char *message);
/* The client will not ask for what the flight holds. */
void flight_leave_news(struct flight *f);

/* ---- wire_stream.c: watches */

/* The server has accepted a watch: takes it. */
void stream_open(struct flight *f, struct api_watch *watch_steal);
/* Ends a watch without a word and frees it. */
void stream_free(struct wire *w, struct stream *s);
/* Something was committed: who watches for it will hear of it. */
void stream_notice(struct flight *f, const struct api_commit *c);
/* The stream ends; the client hears of it after what it has got. */
void stream_end(struct flight *f, enum err_kind kind, const char *message);
/* The server forgets what was before now, says so in the stream, and ends it. */
void stream_gone(struct flight *f);
/* Lets a stream that was held up go on. */
void stream_wake(struct flight *f);

#endif
