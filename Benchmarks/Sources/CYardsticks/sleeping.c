#define _GNU_SOURCE
#include "yardsticks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/// Opens an epoll that watches a descriptor. Returns -1 if the kernel refuses.
static int watch(int descriptor, uint32_t events) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) return -1;
    struct epoll_event interest = {.events = events};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &interest) == 0) return epoll;
    close(epoll);
    return -1;
}

int bench_watch(int descriptor) { return watch(descriptor, EPOLLIN); }

void bench_wait(int epoll) {
    struct epoll_event event;
    while (epoll_wait(epoll, &event, 1, -1) < 0)
        if (errno != EINTR) abort();
}

int bench_event_open(bool ready) { return eventfd(ready ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK); }

void bench_event_write(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) != sizeof one) abort();
}

bool bench_parker_open(bench_parker *parker) {
    parker->event = bench_event_open(false);
    if (parker->event < 0) return false;
    parker->epoll = watch(parker->event, EPOLLIN | EPOLLET);
    if (parker->epoll >= 0) return true;
    close(parker->event);
    return false;
}

void bench_parker_close(bench_parker *parker) {
    close(parker->epoll);
    close(parker->event);
}

void bench_parker_unpark(const bench_parker *parker) {
    // Each write is a new edge, although the count is never read.
    bench_event_write(parker->event);
}

void bench_parker_park(const bench_parker *parker) { bench_wait(parker->epoll); }

bool bench_timer_open(bench_timer *timer) {
    timer->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer->timer < 0) return false;
    timer->epoll = watch(timer->timer, EPOLLIN | EPOLLET);
    if (timer->epoll >= 0) return true;
    close(timer->timer);
    return false;
}

void bench_timer_close(bench_timer *timer) {
    close(timer->epoll);
    close(timer->timer);
}

void bench_timer_sleep(const bench_timer *timer, int64_t deadline) {
    struct itimerspec setting = {
        .it_value = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000}};
    if (timerfd_settime(timer->timer, TFD_TIMER_ABSTIME, &setting, NULL) != 0) abort();
    bench_wait(timer->epoll);
}
