/* The HTTP server of the fleet page, beside the one for metrics and in its loop: files, answers in
 * JSON, and Server-Sent Events from one ring of frames. It only reads, has no cookies, refuses
 * other sites' requests, and sends every answer with the headers that keep foreign code out. */
#ifndef OSTLER_SERVE_PAGE_H
#define OSTLER_SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "serve/http1.h"

struct page;
struct server;

enum {
    PAGE_STREAMS_MAX = 64,
    PAGE_TAG_MAX = 320, /* bytes of an ETag's text, with its NUL */
};

/* One file of the page, all static. */
struct page_file {
    const char *path; /* "/app.js"; the one for "/" has that path */
    const char *type;
    const char *bytes;
    size_t len;
};

/* A body that several connections send. */
struct page_body {
    size_t refs;
    struct buf text;
};

/* Takes a text; one reference. */
struct page_body *page_body_new(struct buf *text_steal);
/* One reference more, for the caller. */
struct page_body *page_body_ref(struct page_body *b);
/* Gives a reference back; NULL has no effect. */
void page_body_unref(struct page_body *b);

/* What the program answers. */
struct page_answer {
    int status;
    char tag[PAGE_TAG_MAX]; /* of its ETag, without quotes; "": none */
    struct page_body *body; /* a reference that the server gives back; NULL: empty */
    bool stream;            /* 200: frames follow, from position `from` of the ring */
    bool reset;             /* of a stream: first tell the viewer to begin anew */
    uint64_t from;
};

/* What the server did, since it started. */
struct page_counts {
    uint64_t bytes;  /* sent */
    uint64_t resets; /* viewers that were told to begin anew, because they fell behind */
    uint64_t refused_hosts, refused_sites, refused_streams;
};

struct page_options {
    const char *listen; /* as in struct server_options */
    const char *hosts;  /* more names than hosts_allow() knows; "": none */
    int timeout_s; /* for a request to arrive, and for each part of an answer; 0: ten seconds */
    int stall_s;   /* for a stream's client to take a part; 0: a minute */
    const struct page_file *files;
    size_t file_count;
    struct server *beside;
    struct ring *ring; /* of the frames; borrowed */
    /* Answers a GET of a target that is no file. */
    void (*answer)(void *arg, const struct http1_request *request, struct page_answer *ret);
    void *arg;
};

/* Starts to listen; NULL with an error that names the address. The files are borrowed. */
struct page *page_new(const struct page_options *o, struct err *e);
int page_port(const struct page *p);
/* The number of streams that are open. */
size_t page_streams(const struct page *p);
struct page_counts page_counts(const struct page *p);
/* Sends what the ring has got to all streams, in the next turns. */
void page_wake(struct page *p);
/* Call it after server_free(), which closes the page's connections. NULL has no effect. */
void page_free(struct page *p);

#endif
