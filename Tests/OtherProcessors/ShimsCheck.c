// Runs the C parts of the package on another processor: .ci/arm64 compiles it for arm64, and runs it under qemu-user.
//
// An emulator orders memory as its host does. So this checks that fences, locks and system calls work, not that no fence is missing.
#define _GNU_SOURCE
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cycles_shim.h"
#include "descriptors_shim.h"
#include "event_base_shim.h"
#include "fork_shim.h"
#include "process_shim.h"
#include "signals_shim.h"
#include "sockets_shim.h"
#include "threads_shim.h"

static const char *current = "";

#define REQUIRE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s: line %d: %s is false, errno %d\n", current, __LINE__, #condition, errno); \
            exit(1); \
        } \
    } while (0)

// MARK: - Fences

enum { BATCHES = 20, ROUNDS = 5000 };

/// One round: what each side stores, and what it sees of the other one.
static struct round {
    _Alignas(128) atomic_int light;
    _Alignas(128) atomic_int heavy;
    _Alignas(128) int seen_by_light;
    _Alignas(128) int seen_by_heavy;
} rounds[ROUNDS];

static atomic_int arrivals;

/// Waits until both threads have come this far.
static void meet(int meeting) {
    atomic_fetch_add(&arrivals, 1);
    for (int spin = 0; atomic_load(&arrivals) < 2 * meeting; spin++) {
        if (spin > 1000) sched_yield();
    }
}

static void *light_side(void *context) {
    (void)context;
    for (int batch = 0, meeting = 0; batch < BATCHES; batch++) {
        meet(++meeting);
        for (int number = 0; number < ROUNDS; number++) {
            struct round *round = &rounds[number];
            atomic_store_explicit(&round->light, 1, memory_order_relaxed);
            runloops_light_fence();
            round->seen_by_light = atomic_load_explicit(&round->heavy, memory_order_relaxed);
        }
        meet(++meeting);
    }
    return NULL;
}

/// Each side stores, passes its half of the fence, and loads what the other side stores: one of the two sees the other's store.
///
/// A heavy half that does nothing fails here if the two threads run at once.
static void check_fences(void) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, light_side, NULL) == 0);
    for (int batch = 0, meeting = 0; batch < BATCHES; batch++) {
        memset(rounds, 0, sizeof rounds);
        meet(++meeting);
        for (int number = 0; number < ROUNDS; number++) {
            struct round *round = &rounds[number];
            atomic_store_explicit(&round->heavy, 1, memory_order_relaxed);
            runloops_heavy_fence();
            round->seen_by_heavy = atomic_load_explicit(&round->light, memory_order_relaxed);
        }
        meet(++meeting);
        for (int number = 0; number < ROUNDS; number++) REQUIRE(rounds[number].seen_by_light || rounds[number].seen_by_heavy);
    }
    pthread_join(thread, NULL);
    printf("fences: %d rounds, the kernel's fence is %s\n", BATCHES * ROUNDS, runloops_process_fence_is_on() ? "on" : "off");
}

// MARK: - Forks

/// The exit status of a child that runs a function; a child that hangs is killed.
static int in_child(int (*body)(void)) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(30);
        _exit(body());
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int reports_flags(void) {
    return (runloops_was_forked() ? 1 : 0) | (runloops_records() ? 2 : 0) | (runloops_records_everything() ? 4 : 0);
}

static int takes_every_lock(void) {
    // More addresses than locks, spread over all of them.
    static char guarded[4096];
    for (size_t place = 0; place < sizeof guarded; place += 8) {
        runloops_fork_lock(&guarded[place]);
        runloops_fork_unlock(&guarded[place]);
    }
    return 7;
}

static atomic_bool is_over;

static void *locking_side(void *context) {
    (void)context;
    while (!atomic_load(&is_over)) takes_every_lock();
    return NULL;
}

static void check_forks(void) {
    REQUIRE(reports_flags() == 0);
    runloops_begin_recording(true);
    REQUIRE(reports_flags() == 6);
    REQUIRE(in_child(reports_flags) == 0);
    REQUIRE(runloops_watch_forks() == 0);
    REQUIRE(in_child(reports_flags) == 1);
    runloops_end_recording();
    REQUIRE(reports_flags() == 0);
    REQUIRE(runloops_fork_lock_stride() == 128);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, locking_side, NULL) == 0);
    for (int count = 0; count < 100; count++) REQUIRE(in_child(takes_every_lock) == 7);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    puts("forks: flags, and 100 children of a process whose thread holds locks");
}

// MARK: - Signals and processes

static int exits_with_three(void) { return 3; }

static void check_signals(void) {
    struct runloops_signal_descriptors descriptors;
    const char *call = "";
    REQUIRE(runloops_signal_open(SIGUSR1, &descriptors, &call) == 0);
    REQUIRE(runloops_signal_start(SIGUSR1, descriptors.writing_end) == 0);
    struct runloops_signal received = {0};
    for (int count = 0; count < 1000; count++) {
        REQUIRE(kill(getpid(), SIGUSR1) == 0);
        REQUIRE(runloops_signal_next(SIGUSR1, &descriptors, &received) == 1);
        REQUIRE(received.number == SIGUSR1 && received.process == getpid() && received.user == getuid());
    }
    REQUIRE(runloops_signal_next(SIGUSR1, &descriptors, &received) == 0);
    runloops_signal_stop(SIGUSR1);
    runloops_signal_close(&descriptors);
    struct sigaction action;
    REQUIRE(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    puts("signals: 1000 taken in a handler and read from its pipe");
}

static void check_processes(void) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(exits_with_three());
    int descriptor = runloops_pidfd_open(child);
    if (descriptor < 0 && errno == ENOSYS) {
        REQUIRE(waitpid(child, NULL, 0) == child);
        puts("processes: this emulator has no pidfd_open");
        return;
    }
    REQUIRE(descriptor >= 0);
    struct runloops_process_status status;
    REQUIRE(runloops_wait(descriptor, WEXITED, &status) == 0);
    REQUIRE(status.code == CLD_EXITED && status.status == 3);
    close(descriptor);
    puts("processes: an exit code through a descriptor");
}

// MARK: - Threads, sockets, libevent

static void *number_of_thread(void *context) {
    *(unsigned long *)context = runloops_thread_number();
    return runloops_is_main_thread() ? context : NULL;
}

static void check_threads(void) {
    unsigned long other = 0;
    pthread_t thread;
    REQUIRE(runloops_is_main_thread() && runloops_usable_processors() >= 1);
    REQUIRE(pthread_create(&thread, NULL, number_of_thread, &other) == 0);
    void *was_main = NULL;
    pthread_join(thread, &was_main);
    REQUIRE(was_main == NULL && other != 0 && other != runloops_thread_number());
    runloops_prefetch_for_write(&other);
    printf("threads: the cycle counter is %s\n", runloops_cycles_are_steady() ? "a clock" : "not used");
}

static void check_sockets(void) {
    int ends[2];
    struct runloops_pipe_ends pipe_ends;
    REQUIRE(runloops_socket_pair(ends) == 0 && runloops_pipe(&pipe_ends) == 0);
    REQUIRE(runloops_send(ends[0], "head", 4, "body", 4, &pipe_ends.writing, 1) == 8);
    char buffer[16];
    int descriptors[runloops_most_descriptors];
    struct runloops_packet packet;
    REQUIRE(runloops_receive(ends[1], false, -1, buffer, sizeof buffer, descriptors, &packet) == 0);
    REQUIRE(packet.length == 8 && packet.descriptor_count == 1 && memcmp(buffer, "headbody", 8) == 0);
    REQUIRE(write(descriptors[0], "x", 1) == 1 && read(pipe_ends.reading, buffer, 1) == 1 && buffer[0] == 'x');
    puts("sockets: a packet with a descriptor");
}

static void became_ready(evutil_socket_t descriptor, short what, void *context) {
    (void)descriptor;
    *(short *)context = what;
}

static void check_libevent(void) {
    struct event_config *config = event_config_new();
    bool was_left = true;
    struct event_base *base = runloops_make_event_base(config, &was_left);
    REQUIRE(base != NULL && !was_left);
    int ends[2];
    REQUIRE(runloops_socket_pair(ends) == 0 && write(ends[0], "x", 1) == 1);
    short what = 0;
    struct event *event = event_new(base, ends[1], EV_READ | EV_PERSIST, became_ready, &what);
    REQUIRE(runloops_watch_event(event) == 0);
    REQUIRE(event_base_loop(base, EVLOOP_ONCE) == 0 && (what & EV_READ));
    runloops_unwatch_event(event, EV_READ | EV_PERSIST);
    event_free(event);
    event_base_free(base);
    event_config_free(config);
    printf("libevent %s: a descriptor is ready\n", event_get_version());
}

int main(void) {
    struct {
        const char *name;
        void (*body)(void);
    } checks[] = {
        {"fences", check_fences},   {"signals", check_signals}, {"processes", check_processes}, {"threads", check_threads},
        {"sockets", check_sockets}, {"libevent", check_libevent}, {"forks", check_forks},
    };
    for (size_t place = 0; place < sizeof checks / sizeof checks[0]; place++) {
        current = checks[place].name;
        checks[place].body();
    }
    return 0;
}
