#ifndef CFOUNDATION_LOOPS_H
#define CFOUNDATION_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

// Foundation's run loop, through the functions of CoreFoundation that libFoundation exports.

// The activities of a run that are observed, by CoreFoundation's numbers.
enum {
    RUNLOOPS_FOUNDATION_ENTRY = 1 << 0,
    RUNLOOPS_FOUNDATION_BEFORE_SOURCES = 1 << 2,
    RUNLOOPS_FOUNDATION_BEFORE_WAITING = 1 << 5,
    RUNLOOPS_FOUNDATION_EXIT = 1 << 7,
};

typedef struct runloops_foundation_link runloops_foundation_link;

/// Observes the runs of the calling thread's loop in the common modes, and prepares to watch a descriptor in them.
///
/// Until the end, a run goes on even if its mode has no other inputs.
/// The observer is called on the thread with each activity above, and with 0 when the descriptor is ready.
/// Returns null if there is no memory.
runloops_foundation_link *_Nullable runloops_foundation_observe(
    int descriptor, void (*_Nonnull observer)(void *_Nonnull info, unsigned long activity), void *_Nonnull info);

/// Starts or stops watching the descriptor in the common modes.
void runloops_foundation_watch(runloops_foundation_link *_Nonnull link, bool watches);

/// Makes the next wait of the loop end immediately.
void runloops_foundation_wake(runloops_foundation_link *_Nonnull link);

/// Serves the default mode once, without waiting. Returns true if it handled a source; more sources may then be ready.
bool runloops_foundation_poll(void);

/// True if the calling thread's loop runs.
bool runloops_foundation_runs(void);

/// Ends the observation and frees the link.
void runloops_foundation_end(runloops_foundation_link *_Nonnull link);

/// Returns the object of a thread's loop, which is made now if the thread has none; null if CoreFoundation has no such function.
///
/// CoreFoundation keeps the object. The thread must not have ended.
const void *_Nullable runloops_foundation_loop(uintptr_t thread);

#endif
