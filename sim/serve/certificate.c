#include "sim/serve/certificate.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"

enum { DAYS = 7, BEFORE_S = 3600 };

static char *pem_text(BIO *bio)
{
    char *data;
    long n = BIO_get_mem_data(bio, &data);
    return xstrndup(data, n > 0 ? (size_t) n : 0);
}

static int add_extension(X509 *x, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, x, x, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    int ok = extension && X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    return ok;
}

static int set_serial(X509 *x)
{
    unsigned char serial[8];
    BIGNUM *number = RAND_bytes(serial, sizeof serial) == 1 ? BN_bin2bn(serial, sizeof serial, NULL)
                                                            : NULL;
    int ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
    BN_free(number);
    return ok;
}

static int set_subject(X509 *x)
{
    X509_NAME *name = X509_get_subject_name(x);
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                      (const unsigned char *) "ostler-sim", -1, -1, 0) &&
           X509_set_issuer_name(x, name);
}

static int set_extensions(X509 *x, const char *ip)
{
    struct in6_addr address;
    bool is_address = inet_pton(AF_INET, ip, &address) == 1 ||
                      inet_pton(AF_INET6, ip, &address) == 1;
    CLEANUP_FREE char *names = xasprintf("DNS:localhost,IP:127.0.0.1%s%s", is_address ? ",IP:" : "",
                                         is_address ? ip : "");
    return add_extension(x, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(x, NID_key_usage, "critical,digitalSignature,keyCertSign") &&
           add_extension(x, NID_ext_key_usage, "serverAuth") &&
           add_extension(x, NID_subject_alt_name, names);
}

static int certificate_fill(X509 *x, EVP_PKEY *key, const char *ip)
{
    return X509_set_version(x, 2) && set_serial(x) &&
           X509_gmtime_adj(X509_getm_notBefore(x), -BEFORE_S) &&
           X509_gmtime_adj(X509_getm_notAfter(x), DAYS * 86400L) && X509_set_pubkey(x, key) &&
           set_subject(x) && set_extensions(x, ip) && X509_sign(x, key, EVP_sha256()) > 0;
}

int certificate_make(const char *ip, struct certificate *ret, struct err *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    BIO *certificate_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_mem());
    int ok = key && x && certificate_bio && key_bio && certificate_fill(x, key, ip) &&
             PEM_write_bio_X509(certificate_bio, x) &&
             PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL);
    if (ok)
        *ret = (struct certificate){ pem_text(certificate_bio), pem_text(key_bio) };
    BIO_free(key_bio);
    BIO_free(certificate_bio);
    X509_free(x);
    EVP_PKEY_free(key);
    return ok ? 0 : err_set(e, ERR_SYSTEM, "cannot make a certificate for %s", ip);
}

void certificate_clear(struct certificate *c)
{
    free(c->certificate);
    free(c->key);
    *c = (struct certificate){ 0 };
}

char *certificate_token(int bytes)
{
    struct buf text = BUF_INIT(1024);
    for (int i = 0; i < bytes; i++) {
        unsigned char byte;
        if (RAND_bytes(&byte, 1) != 1)
            abort(); /* no secret is possible without random numbers */
        buf_printf(&text, "%02x", byte);
    }
    return buf_take(&text);
}
