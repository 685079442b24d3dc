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
