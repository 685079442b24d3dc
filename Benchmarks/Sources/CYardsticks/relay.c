#define _GNU_SOURCE
#include "yardsticks.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void bench_relay_serve(int poster, const int *observers, int32_t count, int stop) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    const int watched[] = {poster, stop};
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = watched[i]};
        epoll_ctl(epoll, EPOLL_CTL_ADD, watched[i], &event);
    }
    for (;;) {
        struct epoll_event events[2];
        int ready = epoll_wait(epoll, events, 2, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == stop) {
                close(epoll);
                return;
            }
            char packet[bench_post_length];
            ssize_t length = recv(poster, packet, sizeof packet, 0);
            if (length <= 0) continue;
            for (int32_t j = 0; j < count; j++) send(observers[j], packet, (size_t)length, MSG_NOSIGNAL);
        }
    }
}

bool bench_relay_post(int poster, int64_t number, int64_t time) {
    char packet[bench_post_length] = {0};
    memcpy(packet, &number, sizeof number);
    memcpy(packet + 8, &time, sizeof time);
    ssize_t sent;
    do sent = send(poster, packet, sizeof packet, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof packet;
}

bool bench_relay_observe(int observer, int64_t *number, int64_t *time) {
    char packet[bench_post_length];
    ssize_t length;
    do length = recv(observer, packet, sizeof packet, 0);
    while (length < 0 && errno == EINTR);
    if (length != sizeof packet) return false;
    memcpy(number, packet, sizeof *number);
    memcpy(time, packet + 8, sizeof *time);
    return true;
}
