#include "tests/scale/count.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_TOGGLE_COLLECT
#endif

void count_start(void)
{
    CALLGRIND_START_INSTRUMENTATION;
}

void count_stop(void)
{
    CALLGRIND_STOP_INSTRUMENTATION;
}

void count_toggle(void)
{
    CALLGRIND_TOGGLE_COLLECT;
}
