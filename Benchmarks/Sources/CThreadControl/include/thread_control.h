#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The kernel's ID of the calling thread.
int32_t bench_thread(void);

/// Restricts a thread of this process to the given processors. Returns false if the kernel refuses.
bool bench_pin(int32_t thread, const int32_t *processors, int32_t count);

/// Stores the numbers of the processors that the calling thread can use, in ascending order, and returns their count.
int32_t bench_usable_processors(int32_t *processors, int32_t capacity);

/// The processor that runs the calling thread.
int32_t bench_processor(void);

/// The resources that all threads of this process have used, including hidden threads of libraries.
typedef struct {
    /// The processor time, user and kernel.
    double seconds;
    /// The number of times that threads gave up their processor to wait, and the number of times that threads were preempted.
    int64_t voluntary_switches, involuntary_switches;
} bench_usage;

bench_usage bench_usage_now(void);

/// The processor time in nanoseconds, user and kernel, of a thread of this process, or -1 if the thread does not exist.
int64_t bench_thread_time(int32_t thread);

/// The time on the monotonic clock, in nanoseconds.
int64_t bench_now(void);

/// Sleeps for the given number of nanoseconds, which must be less than a second.
void bench_sleep(int64_t nanoseconds);

/// Tells the processor that this thread is spinning.
static inline void bench_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}
