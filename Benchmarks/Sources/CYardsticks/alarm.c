#define _GNU_SOURCE
#include "yardsticks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

bool bench_alarm_open(bench_alarm *alarm) {
    alarm->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (alarm->timer < 0) return false;
    alarm->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (alarm->epoll >= 0) {
        struct epoll_event interest = {.events = EPOLLIN | EPOLLET};
        if (epoll_ctl(alarm->epoll, EPOLL_CTL_ADD, alarm->timer, &interest) == 0) return true;
        close(alarm->epoll);
    }
    close(alarm->timer);
    return false;
}

void bench_alarm_close(bench_alarm *alarm) {
    close(alarm->epoll);
    close(alarm->timer);
}

void bench_alarm_sleep(const bench_alarm *alarm, int64_t deadline) {
    struct itimerspec setting = {
        .it_value = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000}};
    if (timerfd_settime(alarm->timer, TFD_TIMER_ABSTIME, &setting, NULL) != 0) abort();
    struct epoll_event event;
    while (epoll_wait(alarm->epoll, &event, 1, -1) < 0)
        if (errno != EINTR) abort();
}
