/* The program `ostler-node`. */
#ifndef OSTLER_NODE_OSTLER_NODE_H
#define OSTLER_NODE_OSTLER_NODE_H

/* Executes the command line; returns the exit code. */
int ostler_node_main(int argc, char **argv);

#endif
