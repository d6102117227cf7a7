/* What `ostler demo` prints: a block that says what to open and to try, and the newest lines of the
 * story. Pure. */
#ifndef OSTLER_DEMO_TEXTS_H
#define OSTLER_DEMO_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct demo_texts {
    const char *version;
    const char *speed;
    int port; /* of the page */
    const char *kubeconfig;
    /* In a container: its name for `docker exec`; NULL: not in a container. */
    const char *container;
    const char *folder;  /* of the programs, for commands to copy; "": in PATH */
    bool built_in;       /* the scenario is the one that is built in */
    bool lacks_kubectl;  /* kubectl is not in PATH */
    const char *machine; /* uname -m, for kubectl's download */
};

void demo_texts_block(const struct demo_texts *t, struct buf *out);

enum { DEMO_STORY_LINES = 3 };

/* The newest lines of the story, the oldest first; NULL: none yet. */
struct demo_story {
    char *lines[DEMO_STORY_LINES];
};

/* Adds a copy of a line. */
void demo_story_add(struct demo_story *s, const char *line, size_t len);
/* Appends DEMO_STORY_LINES rows, each cut to that many columns, and an empty one. */
void demo_story_print(const struct demo_story *s, size_t columns, struct buf *out);
void demo_story_clear(struct demo_story *s);

#endif
