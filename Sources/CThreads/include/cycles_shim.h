#pragma once

#include <stdbool.h>
#include <stdint.h>

/// True if the processor counts cycles at one rate at all times, and so can serve as a clock.
bool runloops_cycles_are_steady(void);

/// The processor's count of cycles; 0 where there is none that is read in a few nanoseconds.
static inline uint64_t runloops_cycles(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}
