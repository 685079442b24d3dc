#pragma once

#include <stdbool.h>

/// True in a process that was forked after `runloops_watch_forks`.
///
/// Not atomic: written once, in a child that has no other thread.
extern bool runloops_forked;

/// True if this process was forked by one that had loops. One load, so that every use of a loop can afford it.
static inline bool runloops_was_forked(void) { return runloops_forked; }

/// Marks every child that is forked from now on as a forked child. Returns an errno, or 0.
int runloops_watch_forks(void);

/// Takes the lock for a value at an address, one of a few locks that the whole process shares.
///
/// Each fork takes all of them first. So in the child every lock is free, and the values that they guard are whole. A thread
/// that holds one neither sleeps nor forks, and holds no second one.
void runloops_fork_lock(const void *guarded);
void runloops_fork_unlock(const void *guarded);

/// The distance between two of the locks, in bytes.
unsigned long runloops_fork_lock_stride(void);
