#pragma once

#include <stdbool.h>

/// The thread-local state of the package. Each member is null until it is first needed.
///
/// This is C, because Swift has no thread-local storage of its own, and `pthread_self()` must not be called in asynchronous code:
/// it is declared `const`, so the compiler reuses its result across a suspension.
struct runloops_thread_record {
    /// The thread's run loop, retained; its handle and its members are parts of it.
    void *loop, *handle, *members;
    /// The thread's cache of message slabs.
    void *slabs;
    /// The record in which other threads see the observers that the thread calls.
    void *calls;
    /// The ring into which a flight recorder writes the thread's events, retained.
    void *events;
    /// The thread's number; 0 until it is first needed.
    unsigned long number;
    /// The driver that replaces the thread's clock and sleep in a simulation.
    void *driver;
    /// The result of `runloops_is_main_thread`, which takes two system calls to find; 0 for unknown, also in a forked child.
    char main_thread;
    /// The number of locks that the thread holds, which debug builds count.
    int held_locks;
};

/// There is one definition, in threads_shim.c: a `static __thread` here would be one variable per object file.
extern __thread struct runloops_thread_record runloops_thread_record;

static inline void *runloops_thread_loop(void) { return runloops_thread_record.loop; }
static inline void *runloops_thread_handle(void) { return runloops_thread_record.handle; }
static inline void *runloops_thread_members(void) { return runloops_thread_record.members; }
static inline void runloops_thread_set_loop(void *loop, void *handle, void *members) {
    runloops_thread_record.loop = loop;
    runloops_thread_record.handle = handle;
    runloops_thread_record.members = members;
}
static inline void *runloops_thread_slabs(void) { return runloops_thread_record.slabs; }
static inline void runloops_thread_set_slabs(void *slabs) { runloops_thread_record.slabs = slabs; }
static inline void *runloops_thread_calls(void) { return runloops_thread_record.calls; }
static inline void runloops_thread_set_calls(void *calls) { runloops_thread_record.calls = calls; }

static inline void *runloops_thread_events(void) { return runloops_thread_record.events; }
static inline void runloops_thread_set_events(void *events) { runloops_thread_record.events = events; }

static inline int runloops_thread_held_locks(void) { return runloops_thread_record.held_locks; }
static inline void runloops_thread_count_lock(int change) { runloops_thread_record.held_locks += change; }

/// The calling thread's number: not 0, and never given to another thread.
unsigned long runloops_thread_number(void);

/// True if the calling thread has a number already.
static inline bool runloops_thread_has_number(void) { return runloops_thread_record.number != 0; }

static inline void *runloops_thread_driver(void) { return runloops_thread_record.driver; }
static inline void runloops_thread_set_driver(void *driver) { runloops_thread_record.driver = driver; }

/// True while the kernel makes every thread of the process pass a full fence when one thread asks for it. It may become false.
extern bool runloops_has_process_fence;

static inline bool runloops_process_fence_is_on(void) {
    return __atomic_load_n(&runloops_has_process_fence, __ATOMIC_RELAXED);
}

/// The light half of a pair of fences: before a load that follows, the thread's stores become visible to a thread that calls
/// `runloops_heavy_fence`.
///
/// This function keeps the compiler from changing the order. The heavy half makes the processor keep the order, if the kernel can
/// do that.
static inline void runloops_light_fence(void) {
    // The flag is loaded after the thread's stores: `give_up_process_fence` relies on that.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!__builtin_expect(runloops_process_fence_is_on(), 1)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// The heavy half: a full fence on every running thread of the process, which takes some microseconds.
///
/// If the kernel refuses this after it was granted at the start, the first call takes some ten milliseconds, and after that each
/// half is a full fence of its own thread.
void runloops_heavy_fence(void);

/// True on the process's first thread.
bool runloops_is_main_thread(void);

/// The system's number of the calling thread. This takes a system call.
int runloops_thread_id(void);

/// The number of processors that the process was allowed when it started, even if its threads have since been confined to fewer; 1
/// if the kernel does not report it.
int runloops_usable_processors(void);

/// Confines the calling thread to processors, given by number. Returns an errno, or 0.
int runloops_use_processors(const int *processors, int count);

/// Names the calling thread, with at most 15 bytes. Returns an errno, or 0.
int runloops_name_thread(const char *name);

/// Reads the calling thread's name into a buffer of 16 bytes.
void runloops_thread_name(char *name);

/// Sets the calling thread's nice value. Returns an errno, or 0.
int runloops_set_nice(int value);

/// Lets the calling thread run only while no other thread wants its processor. Returns an errno, or 0.
int runloops_schedule_idle(void);

/// Lets the calling thread run before all ordinary ones, in turn with others of its level. Returns an errno, or 0.
int runloops_schedule_round_robin(int level);

/// Lets the calling thread run before all ordinary ones until it sleeps. Returns an errno, or 0.
int runloops_schedule_fifo(int level);
