#define _GNU_SOURCE
#include "threads_shim.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread struct runloops_thread_record runloops_thread_record = {0};

bool runloops_is_main_thread(void) {
    enum { UNKNOWN, MAIN, OTHER };
    char *answer = &runloops_thread_record.main_thread;
    if (*answer == UNKNOWN) *answer = gettid() == getpid() ? MAIN : OTHER;
    return *answer == MAIN;
}

static void in_child(void) { runloops_thread_record.main_thread = 0; }

// The thread that forks is the main thread of the child.
__attribute__((constructor)) static void watch_forks(void) {
    if (pthread_atfork(NULL, NULL, in_child) == 0) return;
    perror("RunLoops: the C library takes no more handlers of forks");
    abort();
}

unsigned long runloops_thread_number(void) {
    static unsigned long last;
    unsigned long *number = &runloops_thread_record.number;
    if (*number == 0) *number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return *number;
}

int runloops_thread_id(void) { return gettid(); }

static int processors_at_start = 1;

// This runs before main, and so before anything can have confined the first thread.
__attribute__((constructor)) static void count_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) processors_at_start = CPU_COUNT(&set);
}

int runloops_usable_processors(void) { return processors_at_start; }

int runloops_use_processors(const int *processors, int count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < count; i++) {
        if (processors[i] < 0 || processors[i] >= CPU_SETSIZE) return EINVAL;
        CPU_SET(processors[i], &set);
    }
    int code = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (code != 0) return code;
    // The kernel silently leaves out processors that do not exist, or that the process may not use.
    cpu_set_t taken;
    code = pthread_getaffinity_np(pthread_self(), sizeof taken, &taken);
    if (code != 0) return code;
    return CPU_EQUAL(&set, &taken) ? 0 : EINVAL;
}

int runloops_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

void runloops_thread_name(char *name) {
    if (pthread_getname_np(pthread_self(), name, 16) != 0) name[0] = 0;
}

int runloops_set_nice(int value) {
    // The kernel would silently take the nearest value that it knows.
    if (value < -20 || value > 19) return EINVAL;
    // POSIX applies this to a process, Linux to this one thread.
    return setpriority(PRIO_PROCESS, (id_t)gettid(), value) == 0 ? 0 : errno;
}

static int schedule(int policy, int level) {
    struct sched_param parameters = {.sched_priority = level};
    return sched_setscheduler(gettid(), policy, &parameters) == 0 ? 0 : errno;
}

int runloops_schedule_idle(void) { return schedule(SCHED_IDLE, 0); }
int runloops_schedule_round_robin(int level) { return schedule(SCHED_RR, level); }
int runloops_schedule_fifo(int level) { return schedule(SCHED_FIFO, level); }

bool runloops_has_process_fence = false;

/// True if the kernel granted the fence at the start. Never changed after that.
static bool was_granted = false;

// This runs before main: while there is only one thread, the kernel need not wait for others.
__attribute__((constructor)) static void ask_for_process_fence(void) {
    was_granted = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    runloops_has_process_fence = was_granted;
}

/// Gives up the fence, because a filter of system calls that was installed after the start refuses what the kernel has granted.
///
/// Once the flag is false, the light half is a full fence by itself. This function waits for the light halves that have loaded the
/// flag as true: such a half may have executed its load before its store became visible. No interrupt came in between, because a
/// processor discards the instructions that it has executed ahead of an interrupt, and the thread then loads the flag again. So
/// only a full store buffer lies between the load and the store, and a processor empties that within microseconds. If the thread
/// was interrupted after its store, it executes its load later, and sees the stores of the heavy half.
static void give_up_process_fence(void) {
    __atomic_store_n(&runloops_has_process_fence, false, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // A thread that is cancelled in the sleep would not wait for the light halves.
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 10000000;
    if (end.tv_nsec >= 1000000000) end.tv_sec += 1, end.tv_nsec -= 1000000000;
    // Only the clock ends the wait: a sleep that is refused or interrupted does not shorten it.
    do {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    pthread_setcancelstate(cancelling, NULL);
}

void runloops_heavy_fence(void) {
    static pthread_once_t given_up = PTHREAD_ONCE_INIT;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!was_granted) return;
    if (runloops_process_fence_is_on() && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
    // Every caller waits until the first one has given up the fence, and so for the light halves that ran at that time.
    pthread_once(&given_up, give_up_process_fence);
}
