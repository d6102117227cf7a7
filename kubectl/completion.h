/* Shell completion: the scripts, and the words that the scripts ask for. */
#ifndef OSTLER_KUBECTL_COMPLETION_H
#define OSTLER_KUBECTL_COMPLETION_H

#include <stddef.h>

/* The script of a shell, or for "kubectl" the program that kubectl calls: kubectl/completion, which
 * scripts/embed-completion embeds. As in the shells' own completions, each asks the program for
 * words, so that it never becomes outdated. */
struct completion_script {
    const char *shell, *text;
};

enum { COMPLETION_SCRIPTS = 4 };
extern const struct completion_script completion_scripts[COMPLETION_SCRIPTS];

/* Prints the script of a shell (bash, zsh, fish), or for "kubectl" the program that kubectl
 * calls. Returns the exit code. */
int completion_print(const char *shell);
/* Prints the completions of the last word, one per line with a tab and a description; for an
 * option with its value, only the value. The last line is ":0" if a file is expected, otherwise
 * ":4", as kubectl requires. It asks the cluster for node names, for at most two seconds.
 * Returns the exit code. */
int completion_words(char *const *words, size_t count);

#endif
