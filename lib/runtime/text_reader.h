/* Reads optional texts for users, such as the end of a log: few at a time, each once, without
 * delaying other work. It skips what is refused or lost. */
#ifndef OSTLER_RUNTIME_TEXT_READER_H
#define OSTLER_RUNTIME_TEXT_READER_H

#include "kube/transport.h"

struct text_reader;

struct text_reader_options {
    const struct transport *transport; /* borrowed */
    /* Delivers the text for a key; NULL: none. Called in a later turn than the request. */
    void (*text)(void *arg, const char *key, const char *bytes, size_t len);
    void *arg;
};

/* Owned by the caller. `o`'s pointers are borrowed and must outlive the reader. */
struct text_reader *text_reader_new(const struct text_reader_options *o);
/* Requests a text; takes the request and copies `key`. Drops the request if too many are queued. */
void text_reader_ask(struct text_reader *r, const char *key, struct request request_steal);
/* Cancels everything; no callback follows. */
void text_reader_free(struct text_reader *r);

#endif
