#include "client/tls_memory.h"

#include <openssl/err.h>
#include <openssl/pemerr.h>

#include "tests/unit/support/suite.h"

static void texts_of_errors_are_not_loaded(void **state)
{
    (void) state;
    tls_memory_without_texts();
    ERR_raise(ERR_LIB_PEM, PEM_R_BAD_BASE64_DECODE); /* the first error loads texts */
    assert_null(ERR_reason_error_string(ERR_get_error()));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "the operator holds no texts of OpenSSL's errors", texts_of_errors_are_not_loaded,
              NULL);
    return suite_run(&s, "tls_memory");
}
