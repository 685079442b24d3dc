#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { block_size = 65536, batch_size = 256, stop_number = UINT32_MAX };

static bool watch(int set, int descriptor, uint32_t events, uint32_t number) {
    struct epoll_event interest = {.events = events, .data.u32 = number};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &interest) == 0;
}

/// Sends as much of the block as the socket takes, from the position where the last call stopped. Returns false at an error.
static bool send_on(int socket, const char *block, int32_t length, int32_t *position) {
    ssize_t sent = send(socket, block + *position, (size_t)(length - *position), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN;
    *position = (*position + (int32_t)sent) % length;
    return true;
}

bool bench_greedy_connections(uint16_t port, int32_t count, int stop) {
    char block[block_size];
    memset(block, '\n', sizeof block);
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0 || !watch(set, stop, EPOLLIN, stop_number)) return false;
    for (int32_t i = 0; i < count; i++) {
        int opened = bench_ping_connect(port);
        if (opened < 0 || !watch(set, opened, EPOLLOUT, (uint32_t)opened)) return false;
    }
    for (;;) {
        struct epoll_event events[batch_size];
        int ready = epoll_wait(set, events, batch_size, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.u32 == stop_number) return true;
            // All bytes are the same, so every position is right.
            int32_t position = 0;
            if (!send_on((int)events[i].data.u32, block, sizeof block, &position)) return false;
        }
    }
}

bool bench_greedy_answers(int listener, int stop) {
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const char chunk[] = "1\r\na\r\n";
    enum { chunk_length = sizeof chunk - 1, chunks = block_size / chunk_length, most = 65536 };
    static char block[chunks * chunk_length];
    // The position in the block at which each connection continues, by the number of its descriptor.
    static int32_t positions[most];
    for (int32_t i = 0; i < chunks; i++) memcpy(block + i * chunk_length, chunk, chunk_length);
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0 || !watch(set, stop, EPOLLIN, stop_number) || !watch(set, listener, EPOLLIN, (uint32_t)listener))
        return false;
    for (;;) {
        struct epoll_event events[batch_size];
        int ready = epoll_wait(set, events, batch_size, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.u32 == stop_number) return true;
            int socket = (int)events[i].data.u32;
            if (socket == listener) {
                int accepted = bench_ping_accept(listener);
                if (accepted < 0) continue;
                if (accepted >= most || !watch(set, accepted, EPOLLIN, (uint32_t)accepted)) return false;
                positions[accepted] = -1;
            } else if (positions[socket] < 0) {
                // The request fits into one segment, and its contents do not matter.
                char request[4096];
                ssize_t received = recv(socket, request, sizeof request, MSG_DONTWAIT);
                if (received <= 0) {
                    close(socket);
                    continue;
                }
                send(socket, head, sizeof head - 1, MSG_NOSIGNAL);
                positions[socket] = 0;
                struct epoll_event interest = {.events = EPOLLOUT, .data.u32 = (uint32_t)socket};
                epoll_ctl(set, EPOLL_CTL_MOD, socket, &interest);
            } else if (!send_on(socket, block, sizeof block, &positions[socket])) {
                close(socket);
            }
        }
    }
}
