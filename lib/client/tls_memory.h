#ifndef OSTLER_CLIENT_TLS_MEMORY_H
#define OSTLER_CLIENT_TLS_MEMORY_H

/* Makes OpenSSL's allocations abort the program with a message when memory runs out, as in
 * base/mem.h. Otherwise OpenSSL would permanently skip what it could not load. After one failed
 * allocation, every handshake could fail while the program keeps running. Call it before OpenSSL
 * allocates memory: later it has no effect. */
void tls_memory_hook(void);
/* The same for a process that runs for long. Of the texts of its errors OpenSSL then loads those of
 * TLS only, which saves 60 KiB: an error in a certificate's file has a number and libcurl's words.
 */
void tls_memory_without_texts(void);

#endif
