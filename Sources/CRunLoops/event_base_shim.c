#define _GNU_SOURCE
#include "event_base_shim.h"

#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The place to which the calling thread jumps instead of ending the process; NULL unless it makes a base.
static __thread sigjmp_buf *way_out;
static __thread int refusal;

static void on_fatal_error(int code) {
    if (way_out != NULL) {
        refusal = errno;
        siglongjmp(*way_out, 1);
    }
    // Without such a function, libevent does the same. The number is the code of its own failed assertions.
    if (code == (int)0xdeaddead) abort();
    exit(code);
}

// This runs once, before main. A program that sets a function of its own does so later, so that function stays.
__attribute__((constructor)) static void take_fatal_errors(void) { event_set_fatal_callback(on_fatal_error); }

struct event_base *runloops_make_event_base(const struct event_config *config, bool *was_left) {
    sigjmp_buf here;
    *was_left = false;
    if (sigsetjmp(here, 0) != 0) {
        // The skipped frames are C code of libevent. They held no lock: the base is made without any.
        way_out = NULL;
        *was_left = true;
        // After the failure, libevent has written a message, which may have changed errno.
        errno = refusal == ENFILE || refusal == ENOMEM || refusal == ENOBUFS ? refusal : EMFILE;
        return NULL;
    }
    way_out = &here;
    errno = 0;
    struct event_base *base = event_base_new_with_config(config);
    way_out = NULL;
    return base;
}

// libevent reads the interest of an event when the event is added, when it is deleted, and as a mask for the readiness that its
// callback gets. Only the mask must differ.

int runloops_watch_event(struct event *event) {
    int result = event_add(event, NULL);
    if (result == 0) event->ev_events |= EV_READ | EV_WRITE | EV_CLOSED;
    return result;
}

void runloops_unwatch_event(struct event *event, short interest) {
    event->ev_events = interest;
    event_del(event);
}

/// True if a file of `/proc/self/fdinfo` says that an epoll set watches both descriptors.
static bool watches_both(const char *number, int first, int second) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%s", number);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool has_first = false, has_second = false;
    int watched;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "tfd: %d", &watched) != 1) continue;
        has_first |= watched == first;
        has_second |= watched == second;
    }
    fclose(file);
    return has_first && has_second;
}

int runloops_find_epoll_set(int first, int second) {
    DIR *directory = opendir("/proc/self/fdinfo");
    if (directory == NULL) return -1;
    int found = -1;
    struct dirent *entry;
    while (found == -1 && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.' && watches_both(entry->d_name, first, second)) found = atoi(entry->d_name);
    }
    closedir(directory);
    if (found == -1) errno = ENOENT;
    return found;
}

// Of the functions of the C library that call the kernel, only `syscall` is never a cancellation point.

bool runloops_raise_eventfd(int descriptor) {
    uint64_t one = 1;
    return syscall(SYS_write, descriptor, &one, sizeof one) == sizeof one;
}

void runloops_empty_eventfd(int descriptor) {
    uint64_t count;
    syscall(SYS_read, descriptor, &count, sizeof count);
}
