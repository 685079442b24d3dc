#pragma once

#include <stdbool.h>

/// What the package keeps for each thread: all of it is null until it is first needed.
///
/// C, because Swift has no thread-local storage of its own, and `pthread_self()` must not be asked in
/// asynchronous code: it is declared `const`, so the compiler reuses its answer across a suspension.
struct runloops_thread_record {
    /// The thread's run loop, retained.
    void *loop;
    /// The thread's cache of message slabs.
    void *slabs;
    /// Where other threads see which observers the thread calls.
    void *calls;
    /// Its number; 0 until it was asked for.
    unsigned long number;
    /// What stands for the thread's clock and sleep in a test.
    void *driver;
    /// Whether it is the main thread: 0 until it was asked, which takes two system calls, and again in a forked child.
    char main_thread;
};

/// One definition in threads_shim.c: a `static __thread` here would be one variable per object file.
extern __thread struct runloops_thread_record runloops_thread_record;

static inline void *runloops_thread_loop(void) { return runloops_thread_record.loop; }
static inline void runloops_thread_set_loop(void *loop) { runloops_thread_record.loop = loop; }
static inline void *runloops_thread_slabs(void) { return runloops_thread_record.slabs; }
static inline void runloops_thread_set_slabs(void *slabs) { runloops_thread_record.slabs = slabs; }
static inline void *runloops_thread_calls(void) { return runloops_thread_record.calls; }
static inline void runloops_thread_set_calls(void *calls) { runloops_thread_record.calls = calls; }

/// The calling thread's number: not 0, and no other thread's, also later.
unsigned long runloops_thread_number(void);

/// Whether the calling thread has been asked for its number.
static inline bool runloops_thread_has_number(void) { return runloops_thread_record.number != 0; }

static inline void *runloops_thread_driver(void) { return runloops_thread_record.driver; }
static inline void runloops_thread_set_driver(void *driver) { runloops_thread_record.driver = driver; }

/// Whether the kernel makes every thread of the process pass a full fence when one asks for it.
extern bool runloops_has_process_fence;

/// The cheap half of a pair of fences: what the thread has stored before is seen by others before what it loads
/// after, as far as `runloops_heavy_fence` on another thread can tell.
///
/// It keeps the compiler from changing the order; the processor is held to it by the other half.
static inline void runloops_light_fence(void) {
    if (__builtin_expect(runloops_has_process_fence, 1)) __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// The dear half: a full fence on every thread of the process that runs, some microseconds.
void runloops_heavy_fence(void);

/// Whether the calling thread is the process's first.
bool runloops_is_main_thread(void);

/// The system's number of the calling thread: a system call.
int runloops_thread_id(void);

/// How many processors the process was allowed when it started, whatever its threads have been confined to
/// since; 1 if the kernel does not say.
int runloops_usable_processors(void);

/// Confines the calling thread to processors, given by number. Returns an errno, or 0.
int runloops_use_processors(const int *processors, int count);

/// Names the calling thread, with at most 15 bytes. Returns an errno, or 0.
int runloops_name_thread(const char *name);

/// Sets the calling thread's nice value. Returns an errno, or 0.
int runloops_set_nice(int value);

/// Has the calling thread run only where no other one wants to. Returns an errno, or 0.
int runloops_schedule_idle(void);

/// Has the calling thread go before all ordinary ones, in turn with its like. Returns an errno, or 0.
int runloops_schedule_round_robin(int level);

/// Has the calling thread go before all ordinary ones until it sleeps. Returns an errno, or 0.
int runloops_schedule_fifo(int level);
