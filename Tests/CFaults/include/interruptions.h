#pragma once

#include <stdbool.h>

/// The calls of the kernel that a signal can interrupt.
enum faults_call {
    faults_epoll_wait,
    faults_poll,
    faults_ppoll,
    faults_sendmsg,
    faults_recvmsg,
    faults_accept,
    faults_connect,
    faults_waitid,
    faults_flock,
    faults_open,
    faults_openat,
    faults_read,
    faults_write,
    faults_sigtimedwait,
    faults_close,
    faults_recv,
    faults_send,
    faults_recvmmsg,
    faults_sendmmsg,
    faults_call_count
};

/// The next so many calls of a kind by the calling thread answer EINTR: before they do anything, but for a close, which
/// has closed then.
void faults_interrupt(enum faults_call call, unsigned times);

/// The next so many calls of a kind by the calling thread answer another errno.
void faults_refuse(enum faults_call call, int code, unsigned times);

/// The number of calls of a kind that the calling thread has made.
unsigned faults_calls(enum faults_call call);

/// The number of interruptions that are still to come.
unsigned faults_interruptions_left(enum faults_call call);

/// The next `write` by the calling thread first writes a byte to `reached`, and then blocks until it has read one from
/// `released`.
void faults_hold_write(int reached, int released);

/// The next so many calls of `connect` by the calling thread for an IP address connect the socket to itself, if no process listens at
/// the address, as the kernel does if it happens to choose the same port.
void faults_connect_to_itself(unsigned times);
