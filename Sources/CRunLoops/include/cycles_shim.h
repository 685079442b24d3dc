#pragma once

#include <stdbool.h>
#include <stdint.h>

/// True if the processor counts cycles at one rate at all times, and so can serve as a clock.
bool runloops_cycles_are_steady(void);

/// Fetches the cache line at an address that the caller will write soon, if other processors have copies of it.
static inline void runloops_prefetch_for_write(const void *address) {
#if defined(__x86_64__)
    // The builtin fetches for reading only, unless the compiler may use this instruction everywhere.
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/// The processor's count of cycles; 0 if there is none that can be read in a few nanoseconds.
static inline uint64_t runloops_cycles(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}
