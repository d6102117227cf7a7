/* The words that HTTP has for a status. */
#ifndef OSTLER_SERVE_STATUS_TEXT_H
#define OSTLER_SERVE_STATUS_TEXT_H

/* "Not Found"; "Status" for one that nothing here answers with. Static text. */
const char *status_text(int status);

#endif
