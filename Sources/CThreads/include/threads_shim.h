#pragma once

#include <stdbool.h>

/// What the package keeps for each thread: both pointers are null until they are first needed.
///
/// C, because Swift has no thread-local storage of its own, and `pthread_self()` must not be asked in
/// asynchronous code: it is declared `const`, so the compiler reuses its answer across a suspension.
struct runloops_thread_record {
    /// The thread's run loop, retained.
    void *loop;
    /// The thread's cache of message slabs.
    void *slabs;
    /// The innermost delivery to an observer that runs on the thread.
    struct runloops_delivery *delivery;
};

/// A call of an observer, on the stack of the thread that makes it.
struct runloops_delivery {
    /// Who is called.
    void *observation;
    /// The delivery that runs outside it.
    struct runloops_delivery *outer;
};

/// One definition in threads_shim.c: a `static __thread` here would be one variable per object file.
extern __thread struct runloops_thread_record runloops_thread_record;

static inline void *runloops_thread_loop(void) { return runloops_thread_record.loop; }
static inline void runloops_thread_set_loop(void *loop) { runloops_thread_record.loop = loop; }
static inline void *runloops_thread_slabs(void) { return runloops_thread_record.slabs; }
static inline void runloops_thread_set_slabs(void *slabs) { runloops_thread_record.slabs = slabs; }
static inline struct runloops_delivery *runloops_thread_delivery(void) { return runloops_thread_record.delivery; }
static inline void runloops_thread_set_delivery(struct runloops_delivery *delivery) {
    runloops_thread_record.delivery = delivery;
}

/// Whether the calling thread is the process's first.
bool runloops_is_main_thread(void);

/// How many processors the process was allowed when it started, whatever its threads have been confined to
/// since; 1 if the kernel does not say.
int runloops_usable_processors(void);

/// Confines the calling thread to processors, given by number. Returns an errno, or 0.
int runloops_use_processors(const int *processors, int count);

/// Names the calling thread, with at most 15 bytes. Returns an errno, or 0.
int runloops_name_thread(const char *name);
