#pragma once

#include <stdbool.h>

// What libdispatch and the Swift runtime offer to run loops that serve the main queue, and do not declare.
//
// The names are referred to weakly: a program starts also where one of them does not exist, and asks here. Looking them
// up with `dlsym` would find nothing in a program that is linked statically.

/// Has the rest answer as if nothing of it existed. For tests, before anything else is called.
void runloops_hide_main_queue(void);

/// Whether libdispatch offers its main queue to a run loop.
bool runloops_main_queue_is_offered(void);

/// The eventfd that libdispatch writes when the main queue has become non-empty; -1 if the main thread was given away
/// with `dispatch_main`, or the queue is not offered.
int runloops_main_queue_handle(void);

/// Runs the blocks of the main queue that are there now. The main thread only; inside one of these blocks it does nothing.
void runloops_main_queue_drain(void);

/// Has `run` called on the main thread in place of `dispatch_main`, when an asynchronous main suspends for the first
/// time; it never returns. Answers 0, or an errno: ENOTSUP if the runtime does not offer it, EBUSY if somebody else has
/// asked for it.
int runloops_keep_main_thread(void (*run)(void));

/// Whether `runloops_keep_main_thread` has succeeded.
bool runloops_main_thread_was_kept(void);
