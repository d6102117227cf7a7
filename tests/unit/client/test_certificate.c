#include "client/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "client/base64.h"

#define PEM(base64) "-----BEGIN CERTIFICATE-----\n" base64 "\n-----END CERTIFICATE-----\n"

/* Certificates of Ed25519 keys, without names. */
static const struct certificate_case {
    const char *name;
    const char *pem;
    const char *expiry; /* NULL: unknown */
} certificate_cases[] = {
    { "UTC time",
      PEM("MIGrMF+gAwIBAgIBATAFBgMrZXAwADAeFw05ODAxMDEwMDAwMDBaFw0yNjAxMDIw\n"
          "MzA0MDVaMAAwKjAFBgMrZXADIQCKiOPddAnxlf1S2y08ul1yymcJvx2UEhvzdIgB\n"
          "tA9vXDAFBgMrZXADQQCbNSII5WT9ZsfcWIBdwI7T0RxhaTuPQjFOFXo2pMZwGkd2\n"
          "pCv4RhN8gmUejuHnbMWzvLYKOxqH19Ctz22J8mAH"),
      "2026-01-02T03:04:05Z" },
    { "the last century",
      PEM("MIGrMF+gAwIBAgIBATAFBgMrZXAwADAeFw05ODAxMDEwMDAwMDBaFw05OTAxMDIw\n"
          "MzA0MDVaMAAwKjAFBgMrZXADIQCKiOPddAnxlf1S2y08ul1yymcJvx2UEhvzdIgB\n"
          "tA9vXDAFBgMrZXADQQAGvRbG8Vj8GehwXmcmHGw+1TEtJJXtAkonKlqYebWthzHA\n"
          "2GyO9sHV+LWXzSVXu067lNwe2xP+jiLAjgobJG8L"),
      "1999-01-02T03:04:05Z" },
    { "generalized time",
      PEM("MIGtMGGgAwIBAgIBATAFBgMrZXAwADAgFw05ODAxMDEwMDAwMDBaGA8yMDUxMDEw\n"
          "MjAzMDQwNVowADAqMAUGAytlcAMhAIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0\n"
          "iAG0D29cMAUGAytlcANBADUCz41QspGe6wTI3pOOxINavJcl2CdT7jli9e0HnBdm\n"
          "0JYaXb4Okiu3hbQ0ubop4qk0zIAJ7LvImREAP0vAsA4="),
      "2051-01-02T03:04:05Z" },
    { "cut", PEM("MIGrMF+gAwIBAgIBATAFBgMrZXAwADAeFw05ODAxMDEwMDAwMDBaFw0yNjAxMDIw"), NULL },
    { "no time",
      PEM("MIGrMF+gAwIBAgIBATAFBgMrZXAwADAeFw05ODAxMDEwMDAwMDBaBA0yNjAxMDIw\n"
          "MzA0MDVaMAAwKjAFBgMrZXADIQCKiOPddAnxlf1S2y08ul1yymcJvx2UEhvzdIgB\n"
          "tA9vXDAFBgMrZXADQQCbNSII5WT9ZsfcWIBdwI7T0RxhaTuPQjFOFXo2pMZwGkd2\n"
          "pCv4RhN8gmUejuHnbMWzvLYKOxqH19Ctz22J8mAH"),
      NULL },
    { "empty", PEM(""), NULL },
    { "no base64", PEM("!"), NULL },
    { "no end", "-----BEGIN CERTIFICATE-----\nMC8w", NULL },
    { "no PEM", "hello", NULL },
};

static void check_certificate(void **state)
{
    const struct certificate_case *c = *state;
    int64_t expiry = certificate_expiry(c->pem, strlen(c->pem));
    if (!c->expiry) {
        assert_true(expiry == -1);
        return;
    }
    assert_true(expiry >= 0);
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339(expiry, text);
    assert_string_equal(text, c->expiry);
}

static void base64_is_strict(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        const char *bytes; /* NULL: refused */
    } cases[] = {
        { "", "" },           { "QQ==", "A" },        { "QUI=", "AB" },
        { "QUJD", "ABC" },    { "QU\n JD\t", "ABC" }, { "QUJDRA==", "ABCD" },
        { "QQ=", NULL },      { "Q", NULL },          { "Q===", NULL },
        { "QQ==QQ==", NULL }, { "QQ*=", NULL },       { "=QQ=", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_BUF struct buf out = BUF_INIT(16);
        bool ok = base64_decode(cases[i].text, strlen(cases[i].text), &out);
        assert_int_equal(ok, cases[i].bytes != NULL);
        if (ok)
            assert_string_equal(buf_text(&out), cases[i].bytes);
    }
    CLEANUP_BUF struct buf small = BUF_INIT(2);
    assert_false(base64_decode("QUJD", 4, &small));
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(certificate_cases) + 1] = { cmocka_unit_test(
        base64_is_strict) };
    for (size_t i = 0; i < ARRAY_LEN(certificate_cases); i++)
        tests[i + 1] = (struct CMUnitTest){ .name = certificate_cases[i].name,
                                            .test_func = check_certificate,
                                            .initial_state = (void *) &certificate_cases[i] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
