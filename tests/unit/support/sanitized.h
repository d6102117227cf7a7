/* Whether the test runs under AddressSanitizer, which makes it many times as slow. It looks at
 * memory, of which a few dozen of a test's many random lives use every path: a test that lives
 * hundreds lives fewer then. */
#ifndef OSTLER_TESTS_SUPPORT_SANITIZED_H
#define OSTLER_TESTS_SUPPORT_SANITIZED_H

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
