#pragma once

// First of all includes: libevent's event-config.h defines _GNU_SOURCE, which would change `fd_set`
// against the Glibc module and break every file that imports Glibc before CLibEvent.
#include <sys/select.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>
#include <event2/util.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/// Tells the processor that this thread is spinning.
static inline void runloops_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

/// Sets a timerfd to an absolute time of its clock, in nanoseconds. Returns 0, or -1 with errno.
static inline int runloops_set_timer(int descriptor, int flags, int64_t nanoseconds) {
    struct itimerspec setting = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return timerfd_settime(descriptor, flags | TFD_TIMER_ABSTIME, &setting, NULL);
}

/// The time of a clock, in nanoseconds, or -1 with errno if there is no such clock.
///
/// Times are read and written in C only: which of Swift's modules declares `timespec` depends on the order in which they are loaded,
/// and its members are not visible without an import of that one.
static inline int64_t runloops_clock(int clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Removes a signal of the calling thread that is pending, and that the thread blocks.
static inline void runloops_take_signal(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    struct timespec now = {0};
    while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR) {}
}

/// Asks for a cache line before it is read.
static inline void runloops_prefetch(const void *address) { __builtin_prefetch(address); }

/// `POLLRDHUP`, the other end will not write any more, which needs _GNU_SOURCE to be seen.
static const int runloops_poll_hang_up = 0x2000;
