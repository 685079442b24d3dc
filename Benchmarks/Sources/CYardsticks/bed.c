#define _GNU_SOURCE
#include "yardsticks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int bench_event_open(bool ready) { return eventfd(ready ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK); }

void bench_event_write(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) != sizeof one) abort();
}

bool bench_bed_open(bench_bed *bed) {
    bed->event = bench_event_open(false);
    if (bed->event < 0) return false;
    bed->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (bed->epoll >= 0) {
        struct epoll_event interest = {.events = EPOLLIN | EPOLLET};
        if (epoll_ctl(bed->epoll, EPOLL_CTL_ADD, bed->event, &interest) == 0) return true;
        close(bed->epoll);
    }
    close(bed->event);
    return false;
}

void bench_bed_close(bench_bed *bed) {
    close(bed->epoll);
    close(bed->event);
}

void bench_bed_wake(const bench_bed *bed) {
    // Each write is an edge of its own although nobody ever reads the count.
    bench_event_write(bed->event);
}

void bench_bed_sleep(const bench_bed *bed) {
    struct epoll_event event;
    while (epoll_wait(bed->epoll, &event, 1, -1) < 0)
        if (errno != EINTR) abort();
}
