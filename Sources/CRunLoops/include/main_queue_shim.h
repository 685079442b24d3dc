#pragma once

#include <stdbool.h>

// The functions with which libdispatch and the Swift runtime let a run loop serve the main queue. They are undocumented, and no
// header declares them. No other file of the package uses undocumented functions.
//
// The references are weak: a program starts even if one of the functions does not exist. `dlsym` would find none of them in a
// program that is linked statically.

/// Makes the other functions answer as if libdispatch and the runtime offered nothing. For tests, before any other call.
void runloops_hide_main_queue(void);

/// True if libdispatch offers its main queue to a run loop.
bool runloops_main_queue_is_offered(void);

/// The eventfd that libdispatch writes when the main queue has become non-empty; -1 if the main thread was given away
/// with `dispatch_main`, or the queue is not offered.
int runloops_main_queue_handle(void);

/// Runs the blocks that are in the main queue now. Call it on the main thread only; inside one of these blocks it does nothing.
void runloops_main_queue_drain(void);

/// Makes the runtime call `run` on the main thread in place of `dispatch_main`, when an asynchronous main suspends for the first
/// time; `run` must never return. Returns 0, or an errno: ENOTSUP if the runtime does not offer it, EBUSY if other code has asked
/// for it.
int runloops_keep_main_thread(void (*run)(void));

/// True if `runloops_keep_main_thread` has succeeded.
bool runloops_main_thread_was_kept(void);
