/* What NVIDIA's toolkit changes of a container runtime's configuration, so that a node that is let go of has what it had before:
 * byte for byte, also where the host brought a toolkit of its own. Before the first change the files are copied, and after each
 * one what the toolkit has made of them; both copies stay on the host's disk. */
#ifndef OSTLER_NODE_OPERAND_TOOLKIT_FILES_H
#define OSTLER_NODE_OPERAND_TOOLKIT_FILES_H

#include "base/err.h"
#include "node/inventory/text.h"
#include "node/operand/kept.h"

/* Where the copies are in the containers and on the host. */
#define TOOLKIT_FILES_FOLDER "/var/lib/ostler/toolkit"

/* Paths as this container has them. */
struct toolkit_files {
    const char *config;   /* the runtime's configuration; NULL: there is none */
    const char *drop_in;  /* the file beside it that is the toolkit's alone; NULL: the runtime takes none */
    const char *programs; /* the folder of the toolkit's programs, with a "/" at the end */
    const char *copies;   /* the folder of the copies; NULL: none are made, and there are none */
};

/* Keeps what is there, before the toolkit changes it, unless that is what the toolkit has made of it. */
int toolkit_files_keep(const struct toolkit_files *f, struct err *e);
/* Keeps what the toolkit has made of it. */
int toolkit_files_made(const struct toolkit_files *f, struct err *e);
/* Puts back what was there before the toolkit. A file that somebody else has changed since then is not put back, and said: of
 * the configuration only runtimes whose program is the toolkit's are taken out; its own file is put beside the copies. */
int toolkit_files_restore(const struct toolkit_files *f, struct err *e);
/* The same of docker's, in JSON. */
bool toolkit_files_without_json(struct part text, const char *programs, const char *standard, struct buf *ret);

#endif
