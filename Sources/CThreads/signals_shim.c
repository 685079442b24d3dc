#define _GNU_SOURCE
#include "signals_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/// What the handler knows of one signal. All of it is lock-free, so that a handler may touch it.
struct slot {
    /// Where it writes; -1 for nowhere.
    _Atomic int writing_end;
    /// How many handlers are on some stack.
    _Atomic unsigned running;
    /// How many signals found the pipe full.
    _Atomic unsigned unrecorded;
    /// The process that installed the handler; set before that. A handler of the source before may still read it.
    _Atomic pid_t owner;
    /// What was there before; set before that, too.
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
    // So short a write to a pipe is whole, or refused.
    ssize_t written;
    do written = write(writing_end, &signal, sizeof signal);
    while (written < 0 && errno == EINTR);
    if (written == sizeof signal) return;
    atomic_fetch_add(&slot->unrecorded, 1);
    // The reader looks at the count after each record. It may just have read the last one and looked, so it is given
    // another one; if the pipe refuses that too, it holds some that are still to be read.
    struct runloops_signal more = {0};
    do written = write(writing_end, &more, sizeof more);
    while (written < 0 && errno == EINTR);
}

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    struct slot *slot = &slots[number];
    if (getpid() != slot->owner) {
        // A forked child: the pipe is its parent's. The signal does here what it did before.
        sigaction(number, &slot->previous, NULL);
        raise(number);
        errno = saved;
        return;
    }
    // In this order, against the opposite one of `runloops_signal_stop`: either that waits for us, or we see nowhere.
    // Not cancelled in between, for which the write gives occasion.
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    atomic_fetch_add(&slot->running, 1);
    int writing_end = atomic_load(&slot->writing_end);
    if (writing_end >= 0) record(slot, writing_end, number, info);
    atomic_fetch_sub(&slot->running, 1);
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
    // System calls of whatever thread is interrupted go on where the kernel can do that.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) == 0) return 0;
    int code = errno;
    atomic_store(&slot->writing_end, -1);
    return code;
}

void runloops_signal_stop(int number) {
    struct slot *slot = &slots[number];
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && is_ours(&action)) {
        // What has come before the end was the source's. To ignore a signal makes the kernel forget those that wait, which
        // would otherwise do now what they did before: end the process, most of them.
        memset(&action, 0, sizeof action);
        action.sa_handler = SIG_IGN;
        sigaction(number, &action, NULL);
        sigaction(number, &slot->previous, NULL);
    }
    atomic_store(&slot->writing_end, -1);
    // In a forked child the count may be that of a thread that is not here.
    if (getpid() != slot->owner) return;
    // The pipe is closed next, and its number may be somebody else's at once.
    while (atomic_load(&slot->running) != 0) sched_yield();
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
        // After the read: see `record`.
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

void runloops_say(const char *text, size_t length) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t written = 0;
    while (length > 0) {
        // A signal that comes while a pipe is full ends the wait for room: nothing has gone then, or a part.
        written = write(STDERR_FILENO, text, length);
        if (written == 0 || (written < 0 && errno != EINTR)) break;
        if (written < 0) continue;
        text += written;
        length -= (size_t)written;
    }
    if (written < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
        // Ours, for this thread: taken before it could be delivered.
        const struct timespec now = {0};
        while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
