/* Runs programs of the container's image. */
#ifndef OSTLER_NODE_OPERAND_PROGRAM_H
#define OSTLER_NODE_OPERAND_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Runs a program to its end. It is found through PATH, inherits open files, and has no blocked
 * signals. After `limit_ms` it is killed with its descendants; 0: no limit. Its standard output
 * goes into `said` up to the buffer's limit, or is inherited if `said` is NULL. 0 if it succeeded;
 * an error says how it ended. */
int program_run(char *const argv[], int64_t limit_ms, struct buf *said, struct err *e);
/* The same in another root directory, to which `argv[0]` is relative; NULL: this one. `heard`:
 * `said` receives standard error as well. */
int program_run_in(const char *root, char *const argv[], int64_t limit_ms, bool heard,
                   struct buf *said, struct err *e);
/* Runs a program without arguments, whose standard output only matters if it fails: the error then
 * begins with it. */
int program_run_quietly(const char *name, int64_t limit_ms, struct err *e);
/* Replaces this process with the program; returns only on error. */
int program_become(char *const argv[], struct err *e);

#endif
