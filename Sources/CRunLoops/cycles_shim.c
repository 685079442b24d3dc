#include "cycles_shim.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool runloops_cycles_are_steady(void) {
#if defined(__x86_64__)
    // Bit 8 of EDX: the counter runs at one rate in every state of the processor, asleep or slowed down.
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx & (1u << 8);
#else
    return false;
#endif
}
