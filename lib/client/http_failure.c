#include "client/http_failure.h"

#include "base/mem.h"

static const struct cause {
    CURLcode code;
    enum failure_kind kind;
} causes[] = {
    { CURLE_OK, FAILURE_UNAUTHORIZED },
    { CURLE_COULDNT_RESOLVE_HOST, FAILURE_RESOLVE },
    { CURLE_COULDNT_CONNECT, FAILURE_CONNECT },
    { CURLE_OPERATION_TIMEDOUT, FAILURE_TIMEOUT },
    { CURLE_PEER_FAILED_VERIFICATION, FAILURE_SERVER_CERT },
    { CURLE_SSL_CERTPROBLEM, FAILURE_OWN_CERT },
    { CURLE_SSL_CACERT_BADFILE, FAILURE_CA },
    { CURLE_SSL_CONNECT_ERROR, FAILURE_TLS },
    { CURLE_SSL_CIPHER, FAILURE_TLS },
    { CURLE_COULDNT_RESOLVE_PROXY, FAILURE_PROXY },
    { CURLE_PROXY, FAILURE_PROXY },
};

static enum failure_kind kind_of(CURLcode code)
{
    for (size_t i = 0; i < ARRAY_LEN(causes); i++)
        if (causes[i].code == code)
            return causes[i].kind;
    return FAILURE_BROKEN;
}

void http_failure_read(CURL *easy, CURLcode code, struct failure *ret)
{
    *ret = (struct failure){ .kind = kind_of(code), .detail = curl_easy_strerror(code) };
    long os_errno = 0;
    curl_off_t sent_us = 0;
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_errno);
    curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &ret->verify_code);
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &sent_us);
    ret->os_errno = (int) os_errno;
    if (ret->kind == FAILURE_TIMEOUT && sent_us == 0)
        ret->kind = FAILURE_CONNECT_TIMEOUT;
}
