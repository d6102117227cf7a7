/* The program `ostler`. */
#ifndef OSTLER_OSTLER_H
#define OSTLER_OSTLER_H

/* Runs the command line; returns the exit code. */
int ostler_main(int argc, char **argv);

#endif
