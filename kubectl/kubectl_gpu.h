/* `kubectl gpu`: the kubectl plugin for admins of GPU nodes. */
#ifndef OSTLER_KUBECTL_KUBECTL_GPU_H
#define OSTLER_KUBECTL_KUBECTL_GPU_H

/* Runs the program; returns the exit code. */
int kubectl_gpu_main(int argc, char **argv);
/* The program that kubectl calls to complete `kubectl gpu …`; it is installed beside the plugin. */
int kubectl_complete_gpu_main(int argc, char **argv);

#endif
