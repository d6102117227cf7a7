/* Why a container has ended, for whoever looks at its pod: Ostler reads it there. */
#ifndef OSTLER_NODE_OPERAND_TERMINATION_LOG_H
#define OSTLER_NODE_OPERAND_TERMINATION_LOG_H

/* Where the kubelet has a file for it in each container. */
#define TERMINATION_LOG_FILE "/dev/termination-log"

/* Writes them into the file where there is one; anything else than a file is left alone. */
void termination_log_write(const char *file, const char *text);

#endif
