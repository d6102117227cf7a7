/* `kubectl gpu page`: opens the fleet page of the Ostler that leads, and follows the leader. */
#ifndef OSTLER_KUBECTL_PAGE_H
#define OSTLER_KUBECTL_PAGE_H

#include "kubectl/ask.h"

/* The page's port in Ostler's pod, as the chart sets it. */
enum { PAGE_PORT = 8081 };

/* Prints the page's address, opens it in a browser, and stays until Ctrl-C. */
int page_show(struct ask *a, const struct gpu_options *o, struct err *e);

#endif
