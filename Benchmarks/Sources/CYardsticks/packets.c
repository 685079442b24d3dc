#define _GNU_SOURCE
#include "yardsticks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool bench_packets_open(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
}

void bench_packets_close(int end) { close(end); }

void bench_packets_send(int end, bench_packet_kind kind, int length) {
    char packet[bench_packet_most] = {(char)kind};
    ssize_t sent;
    do sent = send(end, packet, (size_t)length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != length) abort();
}

int64_t bench_packets_receive(int end, int epoll) {
    char packet[bench_packet_most];
    if (epoll >= 0) bench_wait(epoll);
    ssize_t length;
    do length = recv(end, packet, sizeof packet, 0);
    while (length < 0 && errno == EINTR);
    if (length <= 0) return -1;
    if (packet[0] != bench_packet_count) return packet[0];
    int64_t count;
    memcpy(&count, packet + 8, sizeof count);
    return count;
}

void bench_packets_serve(int end, int epoll) {
    char answer[bench_packet_most] = {bench_packet_count};
    int64_t count = 0;
    int64_t kind;
    while ((kind = bench_packets_receive(end, epoll)) >= 0) {
        count += 1;
        if (kind != bench_packet_question) continue;
        memcpy(answer + 8, &count, sizeof count);
        count = 0;
        ssize_t sent = send(end, answer, 64, MSG_NOSIGNAL);
        if (sent != 64) return;
    }
}

/// The socket of an abstract name, connected or listening; -1 if the kernel refuses.
static int open_named(const char *name, int backlog) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length + 1 > sizeof address.sun_path) return -1;
    memcpy(address.sun_path + 1, name, length);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    int end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (end < 0) return -1;
    int result = backlog > 0 ? bind(end, (struct sockaddr *)&address, size) || listen(end, backlog)
                             : connect(end, (struct sockaddr *)&address, size);
    if (result == 0) return end;
    close(end);
    return -1;
}

int bench_packets_connect(const char *name) { return open_named(name, 0); }

bool bench_packets_relay(const char *name, int receivers) {
    int listener = open_named(name, receivers + 1);
    int ends[1 + bench_most_receivers];
    if (listener < 0 || receivers > bench_most_receivers) return false;
    for (int index = 0; index <= receivers; index++) {
        ends[index] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (ends[index] < 0) return false;
    }
    char packet[bench_packet_most];
    while (true) {
        ssize_t length = recv(ends[0], packet, sizeof packet, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return true;
        int last = packet[0] == bench_packet_question ? 1 : receivers;
        for (int index = 1; index <= last; index++) {
            if (send(ends[index], packet, (size_t)length, MSG_NOSIGNAL) != length) return false;
        }
    }
}
