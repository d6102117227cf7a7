#include "client/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <time.h>

int64_t certificate_expiry(const char *pem, size_t len)
{
    BIO *text = BIO_new_mem_buf(pem, (int) len);
    /* With a password, even an empty one, OpenSSL does not ask the terminal for one. */
    X509 *certificate = PEM_read_bio_X509(text, NULL, NULL, (void *) "");
    struct tm end = { 0 };
    int known = certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end);
    int64_t seconds = timegm(&end);
    X509_free(certificate);
    BIO_free(text);
    ERR_clear_error();
    return known && seconds >= 0 ? seconds * 1000000 : -1;
}
