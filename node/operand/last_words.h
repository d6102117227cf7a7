/* Why a container has ended, for whoever looks at its pod: Ostler reads it there. */
#ifndef OSTLER_NODE_OPERAND_LAST_WORDS_H
#define OSTLER_NODE_OPERAND_LAST_WORDS_H

/* Where the kubelet has a file for it in each container. */
#define LAST_WORDS_FILE "/dev/termination-log"

/* Writes them into the file where there is one; anything else than a file is left alone. */
void last_words(const char *file, const char *text);

#endif
