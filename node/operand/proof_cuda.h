/* Runs ostler-cuda (node/cuda), which checks whether GPUs compute, with the loader and the C
 * library of the image. */
#ifndef OSTLER_NODE_OPERAND_PROOF_CUDA_H
#define OSTLER_NODE_OPERAND_PROOF_CUDA_H

#include "base/buf.h"
#include "base/err.h"
#include "node/inventory/root.h"

/* Its path in the image. */
#define PROOF_CUDA_PROGRAM "usr/bin/ostler-cuda"

/* Runs it with the container's driver libraries, and appends "key=value" lines for the facts of the
 * first GPU. The error is one sentence that says what failed, in the program's words if it printed
 * any. */
int proof_cuda_run(const struct root *root, struct buf *facts, struct err *e);

#endif
