/* The entry point of programs that run in the root directory of a driver. They have no start files
 * of the C library that they were built with, and use only parts of it that have not changed in ten
 * years. Test builds define OSTLER_WITH_MAIN, have the usual start files and call begin() from
 * main(). Exactly one source file of a program includes this header. */
#ifndef OSTLER_NODE_NVML_BEGIN_H
#define OSTLER_NODE_NVML_BEGIN_H

#include <string.h>
#include <unistd.h>

/* The program; it ends with _exit(). */
void begin(void) __attribute__((noreturn, visibility("hidden")));

#ifndef OSTLER_WITH_MAIN
/* The loader jumps here. Does what start files do, without the initialization of a C library. */
__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
#if defined(__x86_64__)
        "    xor %ebp, %ebp\n"
        "    and $-16, %rsp\n"
        "    call begin\n"
        "    ud2\n"
#elif defined(__aarch64__)
        /* bti c: a valid target for the loader's jump on processors that check it */
        "    hint #34\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    bl begin\n"
        "    brk #0\n"
#else
#error "no way to begin on this machine"
#endif
);
#endif

/* Writes the whole text; a failure ends the program with status 1. */
static void begin_write(int to, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t n = write(to, text, left);
        if (n <= 0)
            _exit(1);
        text += n;
        left -= (size_t) n;
    }
}

#endif
