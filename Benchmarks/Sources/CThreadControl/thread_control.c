#define _GNU_SOURCE
#include "thread_control.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int32_t bench_thread(void) { return (int32_t)syscall(SYS_gettid); }

bool bench_pin(int32_t thread, const int32_t *processors, int32_t count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int32_t i = 0; i < count; i++) CPU_SET(processors[i], &set);
    // Unlike pthread_setaffinity_np, sched_setaffinity takes a thread ID. It also works for threads of a library that gives out no
    // handle.
    return sched_setaffinity(thread, sizeof set, &set) == 0;
}

int32_t bench_usable_processors(int32_t *processors, int32_t capacity) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    int32_t count = 0;
    for (int32_t each = 0; each < CPU_SETSIZE && count < capacity; each++)
        if (CPU_ISSET(each, &set)) processors[count++] = each;
    return count;
}

int32_t bench_processor(void) { return sched_getcpu(); }

bench_usage bench_usage_now(void) {
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    return (bench_usage){
        .seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
            + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
        .voluntary_switches = used.ru_nvcsw,
        .involuntary_switches = used.ru_nivcsw,
    };
}

int64_t bench_thread_time(int32_t thread) {
    // The ID of a thread's clock, as in clock_getres(2). pthread_getcpuclockid takes a handle, which libraries do not give out.
    clockid_t clock = ((clockid_t)~(uint32_t)thread) * 8 | 6;
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void bench_sleep(int64_t nanoseconds) {
    struct timespec time = {.tv_nsec = nanoseconds};
    nanosleep(&time, NULL);
}
