#pragma once

#include <stdbool.h>

/// True in a process that was forked after `runloops_watch_forks`.
///
/// Not atomic: written once, in a child that has no other thread.
extern bool runloops_forked;

/// Whether this process was forked by one that had loops: one load, so that every use of a loop can afford it.
static inline bool runloops_was_forked(void) { return runloops_forked; }

/// From now on a forked child finds out that it is one. Returns an errno, or 0.
int runloops_watch_forks(void);

/// The lock, of a few that the whole process shares, for what lies at an address.
///
/// Each fork takes all of them first, so that the child finds every one free, and whole what they guard. So their holders neither
/// sleep nor fork, and hold one of them at a time.
void runloops_fork_lock(const void *guarded);
void runloops_fork_unlock(const void *guarded);

/// The distance between two of the locks, in bytes.
unsigned long runloops_fork_lock_stride(void);
