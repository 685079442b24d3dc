#pragma once

#include <stdbool.h>

/// The facts about the process that every use of a loop checks, in one byte, so that one load reads them all.
enum {
    /// The process was forked after `runloops_watch_forks`. Nothing is recorded in such a process.
    RUNLOOPS_FORKED = 1,
    /// A flight recorder records.
    RUNLOOPS_RECORDS = 2,
    /// A flight recorder records every handler.
    RUNLOOPS_RECORDS_EVERYTHING = 4,
};
extern unsigned char runloops_flags;

static inline unsigned char runloops_process_flags(void) { return __atomic_load_n(&runloops_flags, __ATOMIC_RELAXED); }

/// True if this process was forked by a process that had loops.
static inline bool runloops_was_forked(void) { return runloops_process_flags() & RUNLOOPS_FORKED; }

static inline bool runloops_records(void) { return runloops_process_flags() & RUNLOOPS_RECORDS; }
static inline bool runloops_records_everything(void) { return runloops_process_flags() & RUNLOOPS_RECORDS_EVERYTHING; }

/// Sets the flags of a recorder that begins, or has ended. Must not be called by two threads at the same time, nor in a child that
/// was forked after `runloops_watch_forks`. A forked child records nothing until it begins to record again.
void runloops_begin_recording(bool everything);
void runloops_end_recording(void);

/// Marks every child that is forked after this call as a forked child. Returns an errno, or 0.
int runloops_watch_forks(void);

/// Takes the lock for a value at an address, one of a few locks that the whole process shares.
///
/// Each fork takes all of these locks first. So in the child every lock is free, and the values that the locks guard are whole. A
/// thread that holds one of them neither sleeps nor forks, and holds no second one.
void runloops_fork_lock(const void *guarded);
void runloops_fork_unlock(const void *guarded);

/// The distance between two of the locks, in bytes.
unsigned long runloops_fork_lock_stride(void);
