#pragma once

// First of all includes: libevent's event-config.h defines _GNU_SOURCE, which would change `fd_set`
// against the Glibc module and break every file that imports Glibc before CLibEvent.
#include <sys/select.h>
#include <stdbool.h>

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

/// Asks for a cache line before it is read.
static inline void runloops_prefetch(const void *address) { __builtin_prefetch(address); }

/// `POLLRDHUP`, the other end will not write any more, which needs _GNU_SOURCE to be seen.
static const int runloops_poll_hang_up = 0x2000;
