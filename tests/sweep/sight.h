/* What each client has been told about the objects that it watches, from the requests that it sent
 * and the answers that it took. The oracle shares no code with the informers that it judges. */
#ifndef OSTLER_TESTS_SWEEP_SIGHT_H
#define OSTLER_TESTS_SWEEP_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world/wire.h"

struct sight;

struct sight *sight_new(void);
void sight_free(struct sight *s);
/* A client, by its number, sends a request. */
void sight_sent(struct sight *s, uint64_t client, const struct request *r, int64_t now_ms);
/* A client takes a part of an answer. */
void sight_taken(struct sight *s, uint64_t client, const struct wire_taken *t, int64_t now_ms);
/* Why a client must not write now, as "the list of pods is under way"; NULL: it may. Owned. */
char *sight_doubt(const struct sight *s, uint64_t client, int64_t now_ms);
/* Whether a request is of the lease by which one Ostler of several leads. */
bool sight_is_election(const struct request *r);
/* Why a client must not write now because of the lease, as "no renewal of it was answered in time";
 * NULL: it may. Static text. */
const char *sight_lease_doubt(const struct sight *s, uint64_t client, int64_t now_ms);

#endif
