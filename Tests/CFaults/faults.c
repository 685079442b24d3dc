#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "next.h"

// Such functions are called before a sanitizer has begun, too, so it must not look into them.
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)

bool faults_are_slow(void) {
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    return true;
#else
    return false;
#endif
}

bool faults_bear_forks(void) { return faults_bear_cancelling(); }

bool faults_bear_cancelling(void) {
#if __has_feature(thread_sanitizer)
    return false;
#else
    return true;
#endif
}

// A program's own definitions come before the C library's, so these look first and hand on.

static __thread int refusal __attribute__((tls_model("initial-exec")));
static __thread int change_refusal __attribute__((tls_model("initial-exec")));
static __thread unsigned watch_calls __attribute__((tls_model("initial-exec")));
static __thread int listen_refusal __attribute__((tls_model("initial-exec")));
static __thread int pipe_refusal __attribute__((tls_model("initial-exec")));
static __thread int name_watch_refusal __attribute__((tls_model("initial-exec")));
static __thread unsigned uses __attribute__((tls_model("initial-exec")));
static __thread long wall_clock_shift __attribute__((tls_model("initial-exec")));

void faults_refuse_watches(int code) { refusal = code; }
void faults_refuse_changes(int code) { change_refusal = code; }
unsigned faults_watch_calls(void) { return watch_calls; }
void faults_refuse_listens(int code) { listen_refusal = code; }
void faults_refuse_pipes(int code) { pipe_refusal = code; }
void faults_refuse_name_watches(int code) { name_watch_refusal = code; }
unsigned faults_wall_clock_uses(void) { return uses; }
void faults_shift_wall_clock(long seconds) { wall_clock_shift = seconds; }

int faults_expire_timer(int descriptor) {
    struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
    return timerfd_settime(descriptor, 0, &soon, NULL);
}

static void note(clockid_t clock) {
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI) uses += 1;
}

#define NEXT(function) \
    static __typeof__(&function) next; \
    if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE)) \
        __atomic_store_n(&next, NEXT_OF(function), __ATOMIC_RELEASE)

int epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    // A descriptor that is in a set has its memory and its place: the kernel refuses only new ones.
    if (refusal != 0 && operation == EPOLL_CTL_ADD) {
        errno = refusal;
        return -1;
    }
    watch_calls += 1;
    // A change to no events only asks if the descriptor is in the set.
    if (change_refusal != 0 && operation == EPOLL_CTL_MOD && event->events != 0) {
        errno = change_refusal;
        return -1;
    }
    NEXT(epoll_ctl);
    return next(set, operation, descriptor, event);
}

int inotify_init1(int flags) {
    if (name_watch_refusal != 0) {
        errno = name_watch_refusal;
        return -1;
    }
    NEXT(inotify_init1);
    return next(flags);
}

int listen(int socket, int waiting) {
    if (listen_refusal != 0) {
        errno = listen_refusal;
        return -1;
    }
    NEXT(listen);
    return next(socket, waiting);
}

/// True if a pipe, or a pair of sockets in place of one, is refused.
static bool refuses_pipes(void) {
    if (pipe_refusal == 0) return false;
    // libevent, which cannot do without, is left in the middle, with what it has.
    faults_leave_stack();
    errno = pipe_refusal;
    return true;
}

int pipe(int ends[2]) {
    NEXT(pipe);
    return refuses_pipes() ? -1 : next(ends);
}

int pipe2(int ends[2], int flags) {
    NEXT(pipe2);
    return refuses_pipes() ? -1 : next(ends, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    NEXT(socketpair);
    return refuses_pipes() ? -1 : next(domain, type, protocol, ends);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    note(clock);
    NEXT(clock_gettime);
    int result = next(clock, time);
    if (clock == CLOCK_REALTIME && result == 0) time->tv_sec += wall_clock_shift;
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    note(CLOCK_REALTIME);
    NEXT(gettimeofday);
    return next(time, zone);
}

time_t time(time_t *place) {
    note(CLOCK_REALTIME);
    NEXT(time);
    return next(place);
}

int timerfd_create(clockid_t clock, int flags) {
    note(clock);
    NEXT(timerfd_create);
    return next(clock, flags);
}

int pthread_cond_init(pthread_cond_t *restrict condition, const pthread_condattr_t *restrict attributes) {
    clockid_t clock = CLOCK_REALTIME;
    if (attributes != NULL) pthread_condattr_getclock(attributes, &clock);
    note(clock);
    NEXT(pthread_cond_init);
    return next(condition, attributes);
}

#pragma clang attribute pop
