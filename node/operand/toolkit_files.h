/* Keeps the container runtime's configuration from before NVIDIA's toolkit. A node that is no
 * longer managed gets it back byte for byte, even if the host has its own toolkit. Ostler copies
 * the files before the first change, and the toolkit's version after each change; both copies stay
 * on the host's disk. */
#ifndef OSTLER_NODE_OPERAND_TOOLKIT_FILES_H
#define OSTLER_NODE_OPERAND_TOOLKIT_FILES_H

#include "base/err.h"
#include "node/inventory/text.h"
#include "node/operand/kept.h"

/* Directory of the copies, in the containers and on the host. */
#define TOOLKIT_FILES_FOLDER "/var/lib/ostler/toolkit"

/* Paths in this container. */
struct toolkit_files {
    const char *config;   /* the runtime's configuration; NULL: none */
    const char *drop_in;  /* the toolkit's own file; NULL: the runtime supports none */
    const char *programs; /* directory of the toolkit's programs, with a trailing "/" */
    const char *copies;   /* directory of the copies; NULL: no copies */
};

/* Keeps the current files before the toolkit changes them, unless they are the toolkit's work. */
int toolkit_files_keep(const struct toolkit_files *f, struct err *e);
/* Keeps the files that the toolkit wrote. */
int toolkit_files_made(const struct toolkit_files *f, struct err *e);
/* Restores the files from before the toolkit. Does not overwrite a file that was changed since, and
 * prints that: from the configuration, it only removes runtimes whose program is the toolkit's; it
 * moves the toolkit's own file next to the copies. */
int toolkit_files_restore(const struct toolkit_files *f, struct err *e);
/* Removes the toolkit's runtimes from docker's JSON configuration; if one of them is the default,
 * `standard` (NULL: none) becomes the default. False: it has none of them, or does not fit. */
bool toolkit_files_without_json(struct part text, const char *programs, const char *standard,
                                struct buf *ret);

#endif
