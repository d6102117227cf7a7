#include "client/certificate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "client/base64.h"
#include "client/limits.h"

enum {
    DER_UTC_TIME = 0x17,         /* YYMMDDHHMMSSZ */
    DER_GENERALIZED_TIME = 0x18, /* YYYYMMDDHHMMSSZ */
    DER_SEQUENCE = 0x30,
    DER_VERSION = 0xa0, /* [0], absent in version 1 */
};

/* A sequence of DER values. */
struct der {
    const unsigned char *at;
    size_t left;
};

/* Takes the next value; false at the end or if it is cut. */
static bool der_next(struct der *d, unsigned *ret_tag, struct der *ret_content)
{
    if (d->left < 2)
        return false;
    unsigned tag = d->at[0];
    size_t header = 2, len = d->at[1];
    if (len & 0x80) { /* the number of length bytes that follow */
        size_t bytes = len & 0x7f;
        if (bytes > 4 || d->left < 2 + bytes)
            return false;
        len = 0;
        for (size_t i = 0; i < bytes; i++)
            len = len << 8 | d->at[2 + i];
        header += bytes;
    }
    if (len > d->left - header)
        return false;
    *ret_tag = tag;
    *ret_content = (struct der){ .at = d->at + header, .left = len };
    d->at += header + len;
    d->left -= header + len;
    return true;
}

static bool der_enter(struct der *d)
{
    unsigned tag;
    struct der content;
    if (!der_next(d, &tag, &content) || tag != DER_SEQUENCE)
        return false;
    *d = content;
    return true;
}

static bool der_skip(struct der *d, size_t count)
{
    unsigned tag;
    struct der content;
    while (count > 0 && der_next(d, &tag, &content))
        count--;
    return count == 0;
}

static int64_t parse_time(unsigned tag, const struct der *text)
{
    char t[16] = "";
    size_t year_digits = tag == DER_GENERALIZED_TIME ? 4 : 2;
    if ((tag != DER_UTC_TIME && tag != DER_GENERALIZED_TIME) || text->left != year_digits + 11)
        return -1;
    memcpy(t, text->at, text->left);
    const char *rest = t + year_digits;                                   /* MMDDHHMMSSZ */
    const char *century = year_digits == 4 ? "" : *t < '5' ? "20" : "19"; /* RFC 5280, 4.1.2.5.1 */
    char rfc3339[CLOCK_TEXT_MAX];
    snprintf(rfc3339, sizeof rfc3339, "%s%.*s-%.2s-%.2sT%.2s:%.2s:%.3s", century, (int) year_digits,
             t, rest, rest + 2, rest + 4, rest + 6, rest + 8);
    return clock_parse_rfc3339(rfc3339);
}

/* Certificate { TBSCertificate { [0] version, serial, algorithm, issuer, validity { notBefore,
 * notAfter … */
static int64_t parse_expiry(struct der d)
{
    if (!der_enter(&d) || !der_enter(&d) || d.left == 0)
        return -1;
    bool has_version = *d.at == DER_VERSION;
    unsigned tag;
    struct der text;
    if (!der_skip(&d, has_version ? 4 : 3) || !der_enter(&d) || !der_skip(&d, 1) ||
        !der_next(&d, &tag, &text))
        return -1;
    return parse_time(tag, &text);
}

int64_t certificate_expiry(const char *pem, size_t len)
{
    static const char begin_mark[] = "-----BEGIN CERTIFICATE-----", end_mark[] = "-----END";
    const char *begin = memmem(pem, len, begin_mark, strlen(begin_mark));
    if (!begin)
        return -1;
    begin += strlen(begin_mark);
    const char *end = memmem(begin, len - (size_t) (begin - pem), end_mark, strlen(end_mark));
    CLEANUP_BUF struct buf der = BUF_INIT(LIMIT_CREDENTIAL_BYTES);
    if (!end || !base64_decode(begin, (size_t) (end - begin), &der))
        return -1;
    return parse_expiry((struct der){ .at = (const unsigned char *) der.data, .left = der.len });
}
