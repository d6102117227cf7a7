/* The volume with a token of its ServiceAccount that the server adds to a new pod, unless the pod
 * wants none. */
#ifndef OSTLER_SIM_API_TOKEN_VOLUME_H
#define OSTLER_SIM_API_TOKEN_VOLUME_H

struct draft;

/* Changes a pod's spec. `salt` makes the volume's name, as a pod's own name does; the same salt
 * gives the same name. */
void token_volume_add(struct draft *spec, const char *salt);

#endif
