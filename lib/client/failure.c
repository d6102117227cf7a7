#include "client/failure.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/certificate.h"

/* OpenSSL's reasons to reject a certificate (x509_vfy.h), as numbers: only libcurl uses that
 * library. */
static const struct verdict {
    long code;
    const char *what;
    const char *advice;
} verdicts[] = {
    { 9, "is not valid yet", "check the clocks of both machines" },
    { 10, "has expired", "renew it on the server, or check this machine's clock" },
    { 18, "is self-signed and not the certificate authority", "check certificate-authority" },
    { 19, "is not signed by the certificate authority", "check certificate-authority" },
    { 20, "is not signed by the certificate authority", "check certificate-authority" },
    { 21, "is not signed by the certificate authority", "check certificate-authority" },
    { 62, "is for another name", "check the address, or set tls-server-name" },
    { 64, "is for another address", "check the address, or set tls-server-name" },
};

/* The server reports a rejected client certificate only as text. */
static const struct alert {
    const char *text;
    const char *sentence;
} alerts[] = {
    { "alert certificate expired",
      "the server reports that the client certificate has expired: renew it" },
    { "alert certificate revoked",
      "the server reports that the client certificate is revoked: get another one" },
    { "alert unknown ca",
      "the server does not trust the issuer of the client certificate: check client-certificate" },
    { "alert bad certificate",
      "the server rejects the client certificate: check client-certificate" },
    { "certificate required",
      "the server requires a client certificate: set client-certificate and client-key" },
    { "wrong version number", "the server does not speak TLS on this port: check the address" },
};

static int describe_server_cert(const struct failure *f, const struct config *c, struct err *e)
{
    const char *url = c->server.url;
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
        if (verdicts[i].code == f->verify_code)
            return err_set(e, ERR_UNREACHABLE,
                           "TLS: the certificate of %s %s: %s (configured by %s)", url,
                           verdicts[i].what, verdicts[i].advice, c->description);
    if (strstr(f->detail, "subject name") || strstr(f->detail, "target host"))
        return err_set(e, ERR_UNREACHABLE,
                       "TLS: the certificate of %s is for another name: check the address, or set "
                       "tls-server-name (configured by %s)",
                       url, c->description);
    return err_set(e, ERR_UNREACHABLE,
                   "TLS: the certificate of %s is not accepted: %s (configured by %s)", url,
                   f->detail, c->description);
}

static int describe_broken(const struct failure *f, const struct config *c, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(alerts); i++)
        if (strstr(f->detail, alerts[i].text))
            return err_set(e, ERR_UNREACHABLE, "TLS with %s: %s (configured by %s)", c->server.url,
                           alerts[i].sentence, c->description);
    if (f->kind == FAILURE_TLS)
        return err_set(e, ERR_UNREACHABLE, "TLS with %s failed: %s", c->server.url, f->detail);
    return err_set(e, ERR_UNREACHABLE, "the connection to %s broke: %s", c->server.url, f->detail);
}

static int describe_unauthorized(const struct failure *f, const struct config *c, struct err *e)
{
    const struct material *certificate = &c->materials[MATERIAL_CERTIFICATE];
    const struct material *token = &c->materials[MATERIAL_TOKEN];
    const char *url = c->server.url;
    int64_t expiry = certificate->bytes ? certificate_expiry(certificate->bytes, certificate->len)
                                        : -1;
    if (expiry >= 0 && expiry < f->now_us) {
        char when[CLOCK_TEXT_MAX];
        clock_rfc3339(expiry, when);
        return err_set(
            e, ERR_UNAUTHORIZED,
            "%s rejects the client certificate: it expired on %s: renew it (configured by %s)", url,
            when, c->description);
    }
    if (config_token(c) && token->path)
        return err_set(
            e, ERR_UNAUTHORIZED,
            "%s rejects the token from %s: check that its account still exists (configured by %s)",
            url, token->path, c->description);
    if (config_token(c))
        return err_set(e, ERR_UNAUTHORIZED,
                       "%s rejects the token: get another one (configured by %s)", url,
                       c->description);
    if (certificate->bytes)
        return err_set(
            e, ERR_UNAUTHORIZED,
            "%s rejects the client certificate: check client-certificate (configured by %s)", url,
            c->description);
    return err_set(e, ERR_UNAUTHORIZED,
                   "%s requires credentials, but none are set: set a token or a client certificate "
                   "(configured by %s)",
                   url, c->description);
}

int failure_describe(const struct failure *f, const struct config *c, struct err *e)
{
    const char *url = c->server.url;
    const char *reason = f->os_errno ? strerror(f->os_errno) : f->detail;
    const char *way = c->proxy_url ? " (by a proxy: see proxy-url, or HTTPS_PROXY and NO_PROXY)"
                                   : "";
    switch (f->kind) {
    case FAILURE_RESOLVE:
        return err_set(e, ERR_UNREACHABLE,
                       "cannot find the address of %s: check the name and DNS (configured by %s)",
                       url, c->description);
    case FAILURE_CONNECT:
        return err_set(e, ERR_UNREACHABLE, "cannot connect to %s: %s%s", url, reason, way);
    case FAILURE_CONNECT_TIMEOUT:
        return err_set(e, ERR_UNREACHABLE, "cannot connect to %s: no answer within %.1f s%s", url,
                       (double) f->waited_ms / 1000, way);
    case FAILURE_TIMEOUT:
        return err_set(e, ERR_TIMEOUT, "no answer from %s within %.1f s", url,
                       (double) f->waited_ms / 1000);
    case FAILURE_SERVER_CERT:
        return describe_server_cert(f, c, e);
    case FAILURE_OWN_CERT:
        return err_set(e, ERR_UNREACHABLE,
                       "TLS: the client certificate and key cannot be used: %s (configured by %s)",
                       f->detail, c->description);
    case FAILURE_CA:
        return err_set(e, ERR_UNREACHABLE,
                       "TLS: the certificate authority cannot be used: %s (configured by %s)",
                       f->detail, c->description);
    case FAILURE_PROXY:
        return err_set(
            e, ERR_UNREACHABLE,
            "cannot reach %s through the proxy: check proxy-url, or HTTPS_PROXY (configured by %s)",
            url, c->description);
    case FAILURE_UNAUTHORIZED:
        return describe_unauthorized(f, c, e);
    case FAILURE_TLS:
    case FAILURE_BROKEN:
        break;
    }
    return describe_broken(f, c, e);
}
