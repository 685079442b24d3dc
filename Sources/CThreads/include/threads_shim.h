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

/// True while the kernel makes every thread of the process pass a full fence when one asks for it. It may become false.
extern bool runloops_has_process_fence;

static inline bool runloops_process_fence_is_on(void) {
    return __atomic_load_n(&runloops_has_process_fence, __ATOMIC_RELAXED);
}

/// The light half of a pair of fences: other threads see what the thread has stored before it loads what comes after,
/// as far as `runloops_heavy_fence` on another thread can tell.
///
/// It keeps the compiler from changing the order. The heavy half makes the processor keep it, if the kernel can do that.
static inline void runloops_light_fence(void) {
    // The flag is read after the store: `give_up_process_fence` relies on it.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!__builtin_expect(runloops_process_fence_is_on(), 1)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// The heavy half: a full fence on every running thread of the process, which takes some microseconds.
///
/// If the kernel refuses it after it was granted at the start, the first call takes some ten milliseconds, and from then on
/// each half is a full fence of its own thread.
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
