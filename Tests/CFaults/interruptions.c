#define _GNU_SOURCE
#include "interruptions.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "next.h"

// Such functions are called before a sanitizer has begun, too, so it must not look into them.
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)

static __thread unsigned left[faults_call_count] __attribute__((tls_model("initial-exec")));
static __thread int codes[faults_call_count] __attribute__((tls_model("initial-exec")));

static __thread unsigned counts[faults_call_count] __attribute__((tls_model("initial-exec")));

unsigned faults_calls(enum faults_call call) { return counts[call]; }

void faults_refuse(enum faults_call call, int code, unsigned times) { codes[call] = code, left[call] = times; }
void faults_interrupt(enum faults_call call, unsigned times) { faults_refuse(call, EINTR, times); }
unsigned faults_interruptions_left(enum faults_call call) { return left[call]; }

static __thread bool holds_write __attribute__((tls_model("initial-exec")));
static __thread int hold_reached __attribute__((tls_model("initial-exec")));
static __thread int hold_released __attribute__((tls_model("initial-exec")));

void faults_hold_write(int reached, int released) {
    hold_reached = reached, hold_released = released;
    holds_write = true;
}

static bool refuses(enum faults_call call) {
    counts[call] += 1;
    if (left[call] == 0) return false;
    left[call] -= 1;
    errno = codes[call];
    return true;
}

// A program's own definitions come before the C library's, so these call the library's. Its functions are looked up before
// the program begins: signal handlers call some of them, and must not look anything up.

#define EACH(do) \
    do(epoll_wait) do(poll) do(ppoll) do(sendmsg) do(recvmsg) do(accept4) do(connect) do(waitid) do(flock) do(open) do(openat) \
    do(read) do(write) do(recv) do(send) do(recvmmsg) do(sendmmsg) do(eventfd_write) do(syscall) do(sigtimedwait) do(close)

#define DECLARE(function) static __typeof__(&function) next_##function;
#define LOOK_UP(function) next_##function = NEXT_OF(function);

EACH(DECLARE)

__attribute__((constructor(101))) static void look_up(void) { EACH(LOOK_UP) }

/// For the code that runs before ``look_up``.
#define HAND_ON(function, ...) (next_##function ? (void)0 : look_up(), next_##function(__VA_ARGS__))

/// Called if the thread is cancelled meanwhile: see `pthread_exit`.
static void leave_stack(void *nothing) {
    (void)nothing;
    faults_leave_stack();
}

int epoll_wait(int set, struct epoll_event *events, int count, int timeout) {
    if (refuses(faults_epoll_wait)) return -1;
    int result;
    pthread_cleanup_push(leave_stack, NULL);
    result = HAND_ON(epoll_wait, set, events, count, timeout);
    pthread_cleanup_pop(false);
    return result;
}

int poll(struct pollfd *entries, nfds_t count, int timeout) {
    return refuses(faults_poll) ? -1 : HAND_ON(poll, entries, count, timeout);
}

int ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    return refuses(faults_ppoll) ? -1 : HAND_ON(ppoll, entries, count, timeout, mask);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    return refuses(faults_sendmsg) ? -1 : HAND_ON(sendmsg, socket, message, flags);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    return refuses(faults_recvmsg) ? -1 : HAND_ON(recvmsg, socket, message, flags);
}

ssize_t recv(int socket, void *buffer, size_t size, int flags) {
    return refuses(faults_recv) ? -1 : HAND_ON(recv, socket, buffer, size, flags);
}

ssize_t send(int socket, const void *buffer, size_t size, int flags) {
    return refuses(faults_send) ? -1 : HAND_ON(send, socket, buffer, size, flags);
}

int recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    return refuses(faults_recvmmsg) ? -1 : HAND_ON(recvmmsg, socket, messages, count, flags, timeout);
}

int sendmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags) {
    return refuses(faults_sendmmsg) ? -1 : HAND_ON(sendmmsg, socket, messages, count, flags);
}

int accept4(int socket, struct sockaddr *restrict address, socklen_t *restrict size, int flags) {
    return refuses(faults_accept) ? -1 : HAND_ON(accept4, socket, address, size, flags);
}

static __thread unsigned self_connections __attribute__((tls_model("initial-exec")));

void faults_connect_to_itself(unsigned times) { self_connections = times; }

int connect(int socket, const struct sockaddr *address, socklen_t size) {
    if (self_connections > 0 && address->sa_family != AF_UNIX) {
        self_connections -= 1;
        // TCP connects a socket to itself if both addresses are the same.
        if (bind(socket, address, size) == -1) return -1;
    }
    return refuses(faults_connect) ? -1 : HAND_ON(connect, socket, address, size);
}

int waitid(idtype_t type, id_t number, siginfo_t *status, int options) {
    return refuses(faults_waitid) ? -1 : HAND_ON(waitid, type, number, status, options);
}

int flock(int descriptor, int operation) {
    return refuses(faults_flock) ? -1 : HAND_ON(flock, descriptor, operation);
}

static mode_t mode_in(int flags, va_list rest) {
    bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return makes ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_in(flags, rest);
    va_end(rest);
    return refuses(faults_open) ? -1 : HAND_ON(open, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_in(flags, rest);
    va_end(rest);
    return refuses(faults_openat) ? -1 : HAND_ON(openat, directory, path, flags, mode);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    return refuses(faults_read) ? -1 : HAND_ON(read, descriptor, bytes, count);
}

/// Also in a handler of a signal: it calls nothing else.
static void hold(void) {
    char byte = 0;
    holds_write = false;
    ssize_t count;
    do count = HAND_ON(write, hold_reached, &byte, 1);
    while (count < 0 && errno == EINTR);
    do count = HAND_ON(read, hold_released, &byte, 1);
    while (count < 0 && errno == EINTR);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (holds_write) hold();
    return refuses(faults_write) ? -1 : HAND_ON(write, descriptor, bytes, count);
}

int eventfd_write(int descriptor, eventfd_t value) {
    return refuses(faults_write) ? -1 : HAND_ON(eventfd_write, descriptor, value);
}

/// The calls that must be no cancellation points, such as the write to the descriptor that wakes a loop.
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    // On the processors of the tests, the arguments are in registers, however many there are.
    long first = va_arg(list, long), second = va_arg(list, long), third = va_arg(list, long);
    long fourth = va_arg(list, long), fifth = va_arg(list, long), sixth = va_arg(list, long);
    va_end(list);
    if (number == SYS_write && refuses(faults_write)) return -1;
    return HAND_ON(syscall, number, first, second, third, fourth, fifth, sixth);
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict timeout) {
    return refuses(faults_sigtimedwait) ? -1 : HAND_ON(sigtimedwait, set, info, timeout);
}

int close(int descriptor) {
    int result = HAND_ON(close, descriptor);
    return refuses(faults_close) ? -1 : result;
}

#pragma clang attribute pop
