/* HTTP's reason phrases. */
#ifndef OSTLER_SERVE_STATUS_TEXT_H
#define OSTLER_SERVE_STATUS_TEXT_H

/* "Not Found"; "Status" for a status that the server never sends. Static text. */
const char *status_text(int status);

#endif
