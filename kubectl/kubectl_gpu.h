/* `kubectl gpu`: the plugin for people who look after GPU nodes. */
#ifndef OSTLER_KUBECTL_KUBECTL_GPU_H
#define OSTLER_KUBECTL_KUBECTL_GPU_H

/* The program; its exit code. */
int kubectl_gpu_main(int argc, char **argv);
/* What kubectl calls to complete `kubectl gpu …`: a program of that name beside the plugin. */
int kubectl_complete_gpu_main(int argc, char **argv);

#endif
