#define _GNU_SOURCE
#include "gate_shim.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOSED, WAITED_FOR, OPEN };

// Opening publishes what the caller did before, and a thread that finds the gate open acquires it.
bool runloops_gate_is_open(const uint32_t *gate) { return __atomic_load_n(gate, __ATOMIC_ACQUIRE) == OPEN; }

void runloops_gate_open(uint32_t *gate) {
    if (__atomic_exchange_n(gate, OPEN, __ATOMIC_ACQ_REL) != WAITED_FOR) return;
    int error = errno;
    syscall(SYS_futex, gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = error;
}

bool runloops_gate_wait(uint32_t *gate, int64_t nanoseconds) {
    uint32_t seen = CLOSED;
    // Either this thread has said that it waits, or another one has, or the gate is open.
    if (!__atomic_compare_exchange_n(gate, &seen, WAITED_FOR, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) && seen == OPEN) return true;
    struct timespec end, *limit = NULL;
    if (nanoseconds >= 0) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        int64_t fraction = end.tv_nsec + nanoseconds % 1000000000;
        end.tv_sec += nanoseconds / 1000000000 + fraction / 1000000000;
        end.tv_nsec = fraction % 1000000000;
        limit = &end;
    }
    int error = errno;
    bool is_open;
    for (;;) {
        // With a bitset, the limit is an instant of the clock CLOCK_MONOTONIC, so a signal does not make the wait longer.
        long result = syscall(SYS_futex, gate, FUTEX_WAIT_BITSET_PRIVATE, WAITED_FOR, limit, NULL, FUTEX_BITSET_MATCH_ANY);
        bool timed_out = result != 0 && errno == ETIMEDOUT;
        is_open = runloops_gate_is_open(gate);
        if (is_open || timed_out) break;
    }
    errno = error;
    return is_open;
}
