/* The program `ostler-sim`. */
#ifndef OSTLER_SIM_OSTLER_SIM_H
#define OSTLER_SIM_OSTLER_SIM_H

/* Runs the command line; returns the exit code. */
int ostler_sim_main(int argc, char **argv);

#endif
