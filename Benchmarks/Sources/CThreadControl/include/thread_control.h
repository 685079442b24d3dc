#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The kernel's number of the calling thread.
int32_t bench_thread(void);

/// Restricts a thread of this process to these processors; false if the kernel refuses.
bool bench_pin(int32_t thread, const int32_t *processors, int32_t count);

/// Fills in the processors that the calling thread may use, in order, and returns their number.
int32_t bench_usable_processors(int32_t *processors, int32_t capacity);

/// The processor that the calling thread is on.
int32_t bench_processor(void);

/// The resources that all threads of this process have used, including threads that a library started and hides.
typedef struct {
    /// Processor time, user and kernel.
    double seconds;
    /// The number of times a thread gave up its processor to wait, and of times it was preempted.
    int64_t voluntary_switches, involuntary_switches;
} bench_usage;

bench_usage bench_usage_now(void);

/// Nanoseconds of processor time, user and kernel, that a thread of this process has used; -1 if there is no such thread.
int64_t bench_thread_time(int32_t thread);

/// Nanoseconds on the monotonic clock.
int64_t bench_now(void);

/// Sleeps for a number of nanoseconds, less than a second.
void bench_sleep(int64_t nanoseconds);

/// Tells the processor that this thread is spinning.
static inline void bench_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}
