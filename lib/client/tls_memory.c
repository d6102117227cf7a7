#include "client/tls_memory.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "base/mem.h"

static void *tls_malloc(size_t size, const char *file, int line)
{
    (void) file;
    (void) line;
    return xreallocarray(NULL, size, 1);
}

/* CRYPTO_realloc(3) requires that a size of 0 frees. */
static void *tls_realloc(void *p, size_t size, const char *file, int line)
{
    (void) file;
    (void) line;
    if (size)
        return xreallocarray(p, size, 1);
    free(p);
    return NULL;
}

static void tls_free(void *p, const char *file, int line)
{
    (void) file;
    (void) line;
    free(p);
}

void tls_memory_hook(void)
{
    CRYPTO_set_mem_functions(tls_malloc, tls_realloc, tls_free);
}

void tls_memory_without_texts(void)
{
    tls_memory_hook();
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS, NULL);
}
