/* Ostler's own program that shows whether GPUs compute (node/cuda), with the loader and the C library that are in the image. */
#ifndef OSTLER_NODE_OPERAND_PROOF_CUDA_H
#define OSTLER_NODE_OPERAND_PROOF_CUDA_H

#include "base/buf.h"
#include "base/err.h"
#include "node/inventory/root.h"

/* Where the image has it. */
#define PROOF_CUDA_PROGRAM "usr/bin/ostler-cuda"

/* Runs it with the driver's libraries that the container was given, and adds a line "key=value" for each fact of the first GPU.
 * The error is one sentence: what failed, in the program's words where it has any. */
int proof_cuda_run(const struct root *root, struct buf *facts, struct err *e);

#endif
