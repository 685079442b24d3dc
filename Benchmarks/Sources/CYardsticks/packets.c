#define _GNU_SOURCE
#include "yardsticks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
