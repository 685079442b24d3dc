#define _GNU_SOURCE
#include "datagrams.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct bench_bursts {
    int socket;
    /// The number of the next datagram that is sent, and of the next one that is received.
    uint64_t sent, received;
    /// Set by the sender while the receiver is held or has nothing to receive.
    bool is_last;
    /// Set by the receiver before it posts `ended`.
    bool is_wrong;
    /// Posted by the receiver with the last datagram of a burst, and by the sender when the next burst is in the socket.
    sem_t ended, filled;
};

bench_bursts *bench_bursts_create(uint16_t port) {
    bench_bursts *bursts = calloc(1, sizeof *bursts);
    if (bursts == NULL) return NULL;
    sem_init(&bursts->ended, 0, 0);
    sem_init(&bursts->filled, 0, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bursts->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bursts->socket < 0 || connect(bursts->socket, (struct sockaddr *)&address, sizeof address) != 0) {
        bench_bursts_destroy(bursts);
        return NULL;
    }
    return bursts;
}

void bench_bursts_destroy(bench_bursts *bursts) {
    if (bursts->socket >= 0) close(bursts->socket);
    sem_destroy(&bursts->ended);
    sem_destroy(&bursts->filled);
    free(bursts);
}

static bool fill(bench_bursts *bursts) {
    uint8_t bytes[bench_datagram_burst][bench_datagram_length] = {0};
    struct iovec parts[bench_datagram_burst];
    struct mmsghdr headers[bench_datagram_burst];
    memset(headers, 0, sizeof headers);
    for (int index = 0; index < bench_datagram_burst; index++) {
        memcpy(bytes[index], &bursts->sent, sizeof bursts->sent);
        bursts->sent += 1;
        parts[index] = (struct iovec){bytes[index], bench_datagram_length};
        headers[index].msg_hdr = (struct msghdr){.msg_iov = &parts[index], .msg_iovlen = 1};
    }
    int sent = 0;
    while (sent < bench_datagram_burst) {
        int result = sendmmsg(bursts->socket, headers + sent, (unsigned)(bench_datagram_burst - sent), 0);
        if (result < 0 && errno == EINTR) continue;
        if (result <= 0) return false;
        sent += result;
    }
    return true;
}

static bool wait_for_end(bench_bursts *bursts) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    int result;
    do result = sem_timedwait(&bursts->ended, &end);
    while (result != 0 && errno == EINTR);
    return result == 0 && !bursts->is_wrong;
}

bool bench_bursts_run(bench_bursts *bursts, int64_t count) {
    // The receiver waits in its loop for the first burst, of which it can take a part while the rest is sent.
    for (int64_t burst = 0; burst < count; burst++) {
        bursts->is_last = burst + 1 == count;
        if (!fill(bursts)) return false;
        if (burst > 0) sem_post(&bursts->filled);
        if (!wait_for_end(bursts)) return false;
    }
    return true;
}

void bench_bursts_take(bench_bursts *bursts, const void *bytes, int64_t length) {
    uint64_t number = 0;
    if (length == bench_datagram_length) memcpy(&number, bytes, sizeof number);
    if (length != bench_datagram_length || number != bursts->received) bursts->is_wrong = true;
    bursts->received += 1;
    if (bursts->received % bench_datagram_burst != 0) return;
    bool is_last = bursts->is_last;
    sem_post(&bursts->ended);
    if (is_last) return;
    while (sem_wait(&bursts->filled) != 0) {}
}

int bench_datagrams_open(void) {
    int opened = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (opened >= 0 && bind(opened, (struct sockaddr *)&address, sizeof address) == 0) return opened;
    if (opened >= 0) close(opened);
    return -1;
}

uint16_t bench_datagrams_port(int socket) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    return getsockname(socket, (struct sockaddr *)&address, &length) == 0 ? ntohs(address.sin_port) : 0;
}

void bench_datagrams_receive(int socket, int stop, bench_bursts *bursts) {
    enum { capacity = 2048 };
    static _Thread_local uint8_t bytes[bench_datagram_batch][capacity];
    struct sockaddr_storage addresses[bench_datagram_batch];
    struct iovec parts[bench_datagram_batch];
    struct mmsghdr headers[bench_datagram_batch];
    memset(headers, 0, sizeof headers);
    for (int index = 0; index < bench_datagram_batch; index++) {
        parts[index] = (struct iovec){bytes[index], capacity};
        headers[index].msg_hdr = (struct msghdr){.msg_name = &addresses[index], .msg_iov = &parts[index], .msg_iovlen = 1};
    }
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int index = 0; index < 2; index++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = index == 0 ? socket : stop};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0) abort();
    }
    while (true) {
        struct epoll_event events[2];
        int count = epoll_wait(epoll, events, 2, -1);
        for (int index = 0; index < count; index++) {
            if (events[index].data.fd == stop) {
                close(epoll);
                return;
            }
            for (int place = 0; place < bench_datagram_batch; place++) headers[place].msg_hdr.msg_namelen = sizeof addresses[place];
            int received = recvmmsg(socket, headers, bench_datagram_batch, MSG_DONTWAIT, NULL);
            for (int place = 0; place < received; place++) bench_bursts_take(bursts, bytes[place], headers[place].msg_len);
        }
    }
}
