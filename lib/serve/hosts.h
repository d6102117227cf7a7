/* The allow list of the fleet page's host names: a web site whose name an attacker points at
 * 127.0.0.1 (DNS rebinding) sends its own name as Host. Pure. */
#ifndef OSTLER_SERVE_HOSTS_H
#define OSTLER_SERVE_HOSTS_H

#include <stdbool.h>

/* Whether the value of a Host header is "localhost", "127.0.0.1", "[::1]" or one of the names in
 * `more` ("a.example,b.example"; "": none), with or without a port. NULL is not allowed. */
bool hosts_allow(const char *host, const char *more);
/* Whether each member of a list is the name of a host or an IP address, without a port. */
bool hosts_are_valid(const char *list);

#endif
