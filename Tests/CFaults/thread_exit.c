#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>

#include "next.h"

#if __has_feature(address_sanitizer)

void __asan_handle_no_return(void);

/// True if a thread has ended in the middle of a function: nothing that its stack held is released.
static volatile bool has_left_a_stack;

/// Asked before the leaks of a process are looked for.
int __lsan_is_turned_off(void) { return has_left_a_stack; }

void faults_leave_stack(void) {
    has_left_a_stack = true;
    __asan_handle_no_return();
}

/// Ends the calling thread, as the C library's own does.
///
/// Tells the address sanitizer that the frames on the stack do not return. The destructors of the thread's own variables reuse
/// the memory of these frames, which the sanitizer would report otherwise.
_Noreturn void pthread_exit(void *result) {
    __typeof__(&pthread_exit) next = NEXT_OF(pthread_exit);
    faults_leave_stack();
    next(result);
    __builtin_unreachable();
}

#else

void faults_leave_stack(void) {}

#endif
