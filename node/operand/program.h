/* A program of the image that this one runs in. */
#ifndef OSTLER_NODE_OPERAND_PROGRAM_H
#define OSTLER_NODE_OPERAND_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Runs a program to its end; found as a shell finds it, with what is open here and none of the signals blocked that are blocked
 * here. `limit_ms`: it is killed after that, with all that it has started; 0: it takes as long as it takes. What it says goes
 * into `said`, up to that buffer's limit, or, where that is NULL, to where this program's words go. 0 when it ended well; an
 * error says how it ended. */
int program_run(char *const argv[], int64_t limit_ms, struct buf *said, struct err *e);
/* The same in another root folder of the machine, of which `argv[0]` is a path; NULL: in this one. */
int program_run_in(const char *root, char *const argv[], int64_t limit_ms, struct buf *said, struct err *e);
/* The same in this root, with what it says on standard error in `said` as well. */
int program_run_heard(char *const argv[], int64_t limit_ms, struct buf *said, struct err *e);
/* This process becomes the program: returns only with an error. */
int program_become(char *const argv[], struct err *e);

#endif
