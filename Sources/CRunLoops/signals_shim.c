#define _GNU_SOURCE
#include "signals_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// The state of one signal number. Its members are lock-free, so that a signal handler may touch them.
struct slot {
    /// The end of the pipe that the handler writes to; -1 for none.
    _Atomic int writing_end;
    /// The number of handlers that run. The thread that ends the source sleeps on it.
    _Atomic unsigned running;
    /// True while a thread waits for `running` to become 0.
    _Atomic bool awaited;
    /// The number of signals for which the pipe had no room.
    _Atomic unsigned unrecorded;
    /// The process that installed the handler; set before the handler is. A handler of the previous source may still read it.
    _Atomic pid_t owner;
    /// The action before the handler was installed; set before the handler is, too.
    struct sigaction previous;
};

static struct slot slots[_NSIG];

static bool is_from_a_process(int code) { return code == SI_USER || code == SI_QUEUE || code == SI_TKILL; }

static void record(struct slot *slot, int writing_end, int number, const siginfo_t *info) {
    struct runloops_signal signal = {.number = number};
    if (is_from_a_process(info->si_code)) {
        signal.has_sender = 1;
        signal.process = info->si_pid;
        signal.user = info->si_uid;
    }
    // A write of so few bytes to a pipe is either complete or refused.
    ssize_t written;
    do written = write(writing_end, &signal, sizeof signal);
    while (written < 0 && errno == EINTR);
    if (written == sizeof signal) return;
    atomic_fetch_add(&slot->unrecorded, 1);
    // The reader takes `unrecorded` after each record. It may just have read the last record and taken the count, so this writes
    // another record. If the pipe refuses that record, too, the pipe holds records that the reader has yet to read.
    struct runloops_signal more = {0};
    do written = write(writing_end, &more, sizeof more);
    while (written < 0 && errno == EINTR);
}

// This makes the system call itself, because a signal handler may use no lock and no condition variable.
static void futex(_Atomic unsigned *word, int operation, unsigned value) {
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    struct slot *slot = &slots[number];
    if (getpid() != slot->owner) {
        // This is a forked child, and the pipe belongs to its parent. Here, the signal has the effect that it had before the
        // handler was installed.
        sigaction(number, &slot->previous, NULL);
        raise(number);
        errno = saved;
        return;
    }
    // Adds to `running`, then loads `writing_end`; `runloops_signal_stop` stores -1 first, then loads `running`. So either
    // `runloops_signal_stop` waits for this handler, or this handler sees -1. Cancellation is off, because `write` is a
    // cancellation point.
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    atomic_fetch_add(&slot->running, 1);
    int writing_end = atomic_load(&slot->writing_end);
    if (writing_end >= 0) record(slot, writing_end, number, info);
    // Subtracts from `running`, then loads `awaited`; `wait_for_handlers` stores `awaited` first, then loads `running`. So either
    // `wait_for_handlers` sees 0, or this handler wakes its thread.
    if (atomic_fetch_sub(&slot->running, 1) == 1 && atomic_load(&slot->awaited)) futex(&slot->running, FUTEX_WAKE, INT_MAX);
    pthread_setcancelstate(cancelling, NULL);
    errno = saved;
}

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handle;
}

static bool is_others(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

int runloops_signal_start(int number, int writing_end) {
    struct slot *slot = &slots[number];
    struct sigaction action = {0};
    if (sigaction(number, NULL, &action) != 0) return errno;
    if (is_others(&action)) return RUNLOOPS_SIGNAL_HANDLED_ELSEWHERE;
    slot->previous = action;
    slot->owner = getpid();
    atomic_store(&slot->unrecorded, 0);
    atomic_store(&slot->writing_end, writing_end);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    // A system call that the handler interrupts continues afterwards, if the kernel can do that.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) == 0) return 0;
    int code = errno;
    atomic_store(&slot->writing_end, -1);
    return code;
}

/// Sleeps until no handler runs.
///
/// The thread of a handler may have lost its processor to the calling thread. If the calling thread is a real-time thread, the
/// other thread runs only while the calling thread sleeps: yielding the processor is not enough.
static void wait_for_handlers(struct slot *slot) {
    atomic_store(&slot->awaited, true);
    unsigned running;
    while ((running = atomic_load(&slot->running)) != 0) futex(&slot->running, FUTEX_WAIT, running);
    atomic_store(&slot->awaited, false);
}

void runloops_signal_stop(int number) {
    struct slot *slot = &slots[number];
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && is_ours(&action)) {
        // Signals that were sent before the end belong to the source. Ignoring a signal makes the kernel discard those that wait;
        // with the previous action restored, most of them would end the process now.
        memset(&action, 0, sizeof action);
        action.sa_handler = SIG_IGN;
        sigaction(number, &action, NULL);
        sigaction(number, &slot->previous, NULL);
    }
    atomic_store(&slot->writing_end, -1);
    // In a forked child the count may include a handler of a thread that only the parent has.
    if (getpid() != slot->owner) return;
    // The pipe is closed next, and another descriptor may get its number immediately.
    wait_for_handlers(slot);
}

bool runloops_signal_ignore(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0 || is_others(&action)) return false;
    if (action.sa_handler == SIG_IGN) return true;
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    if (sigaction(number, &ignored, &action) != 0) return false;
    if (!is_others(&action)) return true;
    // Another thread has installed a handler meanwhile.
    sigaction(number, &action, NULL);
    return false;
}

int runloops_signal_open(int number, struct runloops_signal_descriptors *descriptors, const char **call) {
    *descriptors = (struct runloops_signal_descriptors){-1, -1, -1, -1};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    int ends[2];
    *call = "pipe2";
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) goto failed;
    descriptors->reading_end = ends[0];
    descriptors->writing_end = ends[1];
    *call = "signalfd";
    descriptors->pending = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptors->pending < 0) goto failed;
    *call = "epoll_create1";
    descriptors->ready = epoll_create1(EPOLL_CLOEXEC);
    if (descriptors->ready < 0) goto failed;
    *call = "epoll_ctl";
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(descriptors->ready, EPOLL_CTL_ADD, descriptors->reading_end, &event) != 0) goto failed;
    if (epoll_ctl(descriptors->ready, EPOLL_CTL_ADD, descriptors->pending, &event) != 0) goto failed;
    return 0;
failed:;
    int code = errno;
    runloops_signal_close(descriptors);
    return code;
}

void runloops_signal_close(const struct runloops_signal_descriptors *descriptors) {
    if (descriptors->ready >= 0) close(descriptors->ready);
    if (descriptors->pending >= 0) close(descriptors->pending);
    if (descriptors->reading_end >= 0) close(descriptors->reading_end);
    if (descriptors->writing_end >= 0) close(descriptors->writing_end);
}

/// Reads a record, whole or not at all.
static bool read_record(int descriptor, void *record, size_t size) {
    ssize_t count;
    do count = read(descriptor, record, size);
    while (count < 0 && errno == EINTR);
    return count == (ssize_t)size;
}

unsigned runloops_signal_next(
    int number, const struct runloops_signal_descriptors *descriptors, struct runloops_signal *signal) {
    if (read_record(descriptors->reading_end, signal, sizeof *signal)) {
        // The count is taken after the read: see `record`.
        unsigned unrecorded = atomic_exchange(&slots[number].unrecorded, 0);
        if (signal->number != 0) return unrecorded + 1;
        signal->number = number;
        return unrecorded;
    }
    struct signalfd_siginfo info;
    if (!read_record(descriptors->pending, &info, sizeof info)) return 0;
    *signal = (struct runloops_signal){.number = number};
    if (is_from_a_process(info.ssi_code)) {
        signal->has_sender = 1;
        signal->process = (int32_t)info.ssi_pid;
        signal->user = info.ssi_uid;
    }
    return 1;
}

int runloops_first_real_time_signal(void) { return SIGRTMIN; }
int runloops_last_real_time_signal(void) { return SIGRTMAX; }
