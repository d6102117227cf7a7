/* Writes a container's termination message, which Ostler and users read in the pod's status. */
#ifndef OSTLER_NODE_OPERAND_TERMINATION_LOG_H
#define OSTLER_NODE_OPERAND_TERMINATION_LOG_H

/* The file that the kubelet mounts into each container. */
#define TERMINATION_LOG_FILE "/dev/termination-log"

/* Writes the text if `file` is a regular file; else does nothing. */
void termination_log_write(const char *file, const char *text);

#endif
