/* Reads texts that are a courtesy to people, such as the end of a log: few at a time, each once, never in anybody's way. What is
 * refused or gets lost is left out. */
#ifndef OSTLER_RUNTIME_TEXT_READER_H
#define OSTLER_RUNTIME_TEXT_READER_H

#include "kube/transport.h"

struct text_reader;

struct text_reader_options {
    const struct transport *transport; /* borrowed */
    /* The text for a key, as it came; NULL: there is none. From a later turn than the question. */
    void (*text)(void *arg, const char *key, const char *bytes, size_t len);
    void *arg;
};

/* Owned by the caller. What `o` points to is borrowed and outlives it. */
struct text_reader *text_reader_new(const struct text_reader_options *o);
/* Asks for a text; takes the request. Where too many wait already the question is forgotten. `key` is copied. */
void text_reader_ask(struct text_reader *r, const char *key, struct request request_steal);
/* Ends everything; nothing is told any more. */
void text_reader_free(struct text_reader *r);

#endif
