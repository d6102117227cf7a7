#ifndef OSTLER_CLIENT_TLS_MEMORY_H
#define OSTLER_CLIENT_TLS_MEMORY_H

/* Lets OpenSSL's allocations end the program with a sentence when there is no memory, as ours do. OpenSSL would go on without
 * what it could not load, once and for ever: after one allocation that failed at the wrong moment every handshake fails, and the
 * program runs without ever reaching the API server. To be called before OpenSSL has allocated anything: later it does
 * nothing. */
void tls_memory_hook(void);

#endif
