/* Words for the shell: its scripts, and what they ask for. */
#ifndef OSTLER_KUBECTL_COMPLETION_H
#define OSTLER_KUBECTL_COMPLETION_H

#include <stddef.h>

/* Prints the script of a shell (bash, zsh, fish), or "kubectl": the program that kubectl asks; the exit code. */
int completion_script(const char *shell);
/* Prints, a word on each line with a tab and a sentence behind it, what the last of these words may become; of an option with its
 * value what stands behind the "=". At the end stands ":0" where a file is meant, and else ":4", as kubectl wants to be told.
 * Names of nodes are asked of the cluster, for two seconds at most. The exit code. */
int completion_words(char *const *words, size_t count);

#endif
