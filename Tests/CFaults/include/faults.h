#pragma once

#include "interruptions.h"
#include "names.h"
#include "tls_peers.h"
#include "transfers.h"

#include <stdbool.h>

/// True if a sanitizer makes everything slower.
bool faults_are_slow(void);

/// True if threads can be cancelled; false under the thread sanitizer.
bool faults_bear_cancelling(void);

/// True if a child that is forked by a process with busy threads can use Swift; false under the thread sanitizer.
///
/// There, the Swift runtime takes a lock for a moment each time that a global or the metadata of a generic type is used, not only
/// the first time. If another thread has it at the fork, the child waits for it for ever.
bool faults_bear_forks(void);

/// Makes `epoll_ctl` refuse to add a descriptor for the calling thread, with this errno; 0 ends that.
void faults_refuse_watches(int code);

/// Makes `epoll_ctl` refuse to change the events of a descriptor for the calling thread, with this errno; 0 for as the
/// kernel likes.
void faults_refuse_changes(int code);

/// The number of times that the calling thread has called `epoll_ctl`.
unsigned faults_watch_calls(void);

/// Makes `listen` fail for the calling thread, with this errno; 0 ends that.
void faults_refuse_listens(int code);

/// Makes `inotify_init1` fail for the calling thread, with this errno; 0 ends that.
void faults_refuse_name_watches(int code);

/// Makes every pipe and every pair of sockets fail for the calling thread, with this errno; 0 ends that.
void faults_refuse_pipes(int code);

/// The number of times that the calling thread has read the wall clock, or made something that waits by it.
unsigned faults_wall_clock_uses(void);

/// Shifts the wall clock that the calling thread reads with `clock_gettime`, as if the clock had been set; 0 ends that.
void faults_shift_wall_clock(long seconds);

/// Makes a timerfd readable. Returns 0, or -1 with errno.
int faults_expire_timer(int descriptor);
