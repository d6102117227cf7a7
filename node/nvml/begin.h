/* How a program begins that runs in the root folder of a driver: where the loader ends, without the start files of the C library
 * that it was built with. Such a program uses of the C library only what has not changed in ten years. A build for tests
 * defines OSTLER_WITH_MAIN, has the usual start and calls begin() from there. One source file of a program includes this. */
#ifndef OSTLER_NODE_NVML_BEGIN_H
#define OSTLER_NODE_NVML_BEGIN_H

/* The program; it ends by _exit(). */
void begin(void) __attribute__((noreturn, visibility("hidden")));

#ifndef OSTLER_WITH_MAIN
/* What the loader goes to: as a program begins, but for what the C library does of its own. */
__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
#if defined(__x86_64__)
        "    xor %ebp, %ebp\n"
        "    and $-16, %rsp\n"
        "    call begin\n"
        "    ud2\n"
#elif defined(__aarch64__)
        "    hint #34\n" /* bti c: the loader's jump may end here; a processor that checks it ends the program otherwise */
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    bl begin\n"
        "    brk #0\n"
#else
#error "no way to begin on this machine"
#endif
);
#endif

#endif
