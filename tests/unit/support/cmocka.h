/* cmocka.h with the four headers that it wants before it. */
#ifndef OSTLER_TESTS_SUPPORT_CMOCKA_H
#define OSTLER_TESTS_SUPPORT_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
