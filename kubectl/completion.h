/* Shell completion: the scripts, and the words that the scripts ask for. */
#ifndef OSTLER_KUBECTL_COMPLETION_H
#define OSTLER_KUBECTL_COMPLETION_H

#include <stddef.h>

/* Prints the script of a shell (bash, zsh, fish), or for "kubectl" the program that kubectl
 * calls. Returns the exit code. */
int completion_script(const char *shell);
/* Prints the completions of the last word, one per line with a tab and a description; for an
 * option with its value, only the value. The last line is ":0" if a file is expected, otherwise
 * ":4", as kubectl requires. It asks the cluster for node names, for at most two seconds.
 * Returns the exit code. */
int completion_words(char *const *words, size_t count);

#endif
