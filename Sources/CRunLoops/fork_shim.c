#include "fork_shim.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

unsigned char runloops_flags = 0;

static void in_child(void) { __atomic_store_n(&runloops_flags, RUNLOOPS_FORKED, __ATOMIC_RELAXED); }

// Ends the recording in a child, whose threads and locks are its parent's.
static void end_recording_in_child(void) {
    __atomic_and_fetch(&runloops_flags, (unsigned char)RUNLOOPS_FORKED, __ATOMIC_RELAXED);
}

void runloops_begin_recording(bool everything) {
    static bool watches;
    if (!watches) watches = pthread_atfork(0, 0, end_recording_in_child) == 0;
    unsigned char flags = RUNLOOPS_RECORDS | (everything ? RUNLOOPS_RECORDS_EVERYTHING : 0);
    __atomic_store_n(&runloops_flags, flags, __ATOMIC_RELAXED);
}

void runloops_end_recording(void) { __atomic_store_n(&runloops_flags, 0, __ATOMIC_RELAXED); }

int runloops_watch_forks(void) { return pthread_atfork(0, 0, in_child); }

// The thread sanitizer knows at most 63 locks that a thread holds at once, and a fork holds them all.
enum { LOG2_COUNT = 5, COUNT = 1 << LOG2_COUNT };

// Each lock is alone on a pair of cache lines, which processors fetch together.
static struct lock {
    _Alignas(128) pthread_mutex_t mutex;
} locks[COUNT];

static pthread_mutex_t *lock_of(const void *guarded) {
    // Spreads addresses that differ only in a few bits.
    uint64_t hash = (uint64_t)(uintptr_t)guarded * UINT64_C(0x9E3779B97F4A7C15);
    return &locks[hash >> (64 - LOG2_COUNT)].mutex;
}

void runloops_fork_lock(const void *guarded) { pthread_mutex_lock(lock_of(guarded)); }
void runloops_fork_unlock(const void *guarded) { pthread_mutex_unlock(lock_of(guarded)); }
unsigned long runloops_fork_lock_stride(void) { return sizeof(struct lock); }

// All forks take the locks in the same order, and other threads hold at most one lock, so there is no deadlock.
static void before_fork(void) {
    for (int i = 0; i < COUNT; i++) pthread_mutex_lock(&locks[i].mutex);
}

static void after_fork(void) {
    for (int i = COUNT - 1; i >= 0; i--) pthread_mutex_unlock(&locks[i].mutex);
}

// This runs before main, and so before a program that uses this library under a lock of its own registers its handlers. Handlers
// that are registered later run earlier, so that the program's lock is taken first at a fork, as it is elsewhere.
__attribute__((constructor)) static void take_locks_at_forks(void) {
    for (int i = 0; i < COUNT; i++) pthread_mutex_init(&locks[i].mutex, NULL);
    if (pthread_atfork(before_fork, after_fork, after_fork) == 0) return;
    perror("RunLoops: the C library takes no more handlers of forks");
    abort();
}
