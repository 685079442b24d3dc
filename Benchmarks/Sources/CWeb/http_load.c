#define _GNU_SOURCE
#include "web.h"

#include "load.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char body[] = "Hello, world!";

enum { body_length = sizeof body - 1, most_answer = 1024 };

static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n";

typedef struct {
    int socket;
    bool waits;
    size_t count;
    char bytes[most_answer + 1];
} client;

struct bench_visitors {
    int epoll;
    int32_t count;
    client clients[];
};

static bool ask(client *each) {
    each->waits = true;
    each->count = 0;
    return send(each->socket, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1;
}

/// Receives bytes of an answer. Returns 1 if the answer is complete, 0 if bytes are missing, and -1 if a byte is wrong.
static int receive(client *each) {
    ssize_t count = recv(each->socket, each->bytes + each->count, most_answer - each->count, MSG_DONTWAIT);
    if (count <= 0) return count < 0 && errno == EAGAIN ? 0 : -1;
    if (!each->waits) return -1;
    each->count += (size_t)count;
    each->bytes[each->count] = 0;
    char *end = strstr(each->bytes, "\r\n\r\n");
    if (!end) return each->count < most_answer ? 0 : -1;
    size_t received = each->count - (size_t)(end + 4 - each->bytes);
    if (received < body_length) return 0;
    if (received > body_length || memcmp(end + 4, body, body_length) != 0) return -1;
    end[2] = 0;
    if (strncmp(each->bytes, "HTTP/1.1 200 OK\r\n", 17) != 0) return -1;
    if (!strcasestr(each->bytes, "\r\nContent-Length: 13\r\n")) return -1;
    each->waits = false;
    return 1;
}

bench_visitors *bench_visitors_connect(uint16_t port, int32_t count) {
    bench_visitors *visitors = calloc(1, sizeof *visitors + (size_t)count * sizeof(client));
    if (!visitors) return NULL;
    visitors->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int32_t i = 0; i < count; i++) {
        int opened = bench_ping_connect(port);
        if (opened < 0) {
            bench_visitors_leave(visitors);
            return NULL;
        }
        visitors->clients[visitors->count++].socket = opened;
        struct epoll_event interest = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        epoll_ctl(visitors->epoll, EPOLL_CTL_ADD, opened, &interest);
    }
    return visitors;
}

void bench_visitors_leave(bench_visitors *visitors) {
    while (visitors->count > 0) close(visitors->clients[--visitors->count].socket);
    close(visitors->epoll);
    free(visitors);
}

bool bench_visitors_ask(bench_visitors *visitors, int32_t requests) {
    int32_t asked = 0, answered = 0;
    for (int32_t i = 0; i < visitors->count && asked < requests; i++, asked++)
        if (!ask(&visitors->clients[i])) return false;
    while (answered < requests) {
        struct epoll_event events[64];
        int ready = epoll_wait(visitors->epoll, events, 64, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        for (int i = 0; i < ready; i++) {
            client *each = &visitors->clients[events[i].data.u32];
            int complete = receive(each);
            if (complete < 0) return false;
            if (complete == 0) continue;
            answered++;
            if (asked == requests) continue;
            if (!ask(each)) return false;
            asked++;
        }
    }
    return true;
}
