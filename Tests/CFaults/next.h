#pragma once

/// Tells the address sanitizer that the frames on this thread's stack do not return.
void faults_leave_stack(void);

#include <dlfcn.h>

/// The function behind one that is defined here in front of the C library's: a sanitizer's, if it has one, or the C library's.
#define NEXT_OF(function) \
    ({ \
        extern __typeof__(function) __interceptor_##function __attribute__((weak)); \
        &__interceptor_##function != NULL ? &__interceptor_##function \
                                          : (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
    })
