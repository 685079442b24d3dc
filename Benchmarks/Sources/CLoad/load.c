#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { batch = 256 };

typedef struct {
    int socket;
    /// The number of unanswered requests, and the number of bytes of the next answer that have arrived.
    int32_t pending, position;
} client;

struct bench_load {
    int epoll;
    int32_t capacity, count;
    client clients[];
};

bench_load *bench_load_create(int32_t capacity) {
    bench_load *load = calloc(1, sizeof(bench_load) + (size_t)capacity * sizeof(client));
    if (!load) return NULL;
    load->capacity = capacity;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (load->epoll >= 0) return load;
    free(load);
    return NULL;
}

void bench_load_destroy(bench_load *load) {
    bench_load_disconnect(load);
    close(load->epoll);
    free(load);
}

void bench_load_disconnect(bench_load *load) {
    while (load->count > 0) close(load->clients[--load->count].socket);
}

static bool ask(client *each, int64_t count) {
    static const char request[] = BENCH_PING_REQUEST;
    char requests[bench_ping_most_depth * bench_ping_request_length];
    for (int64_t i = 0; i < count; i++)
        memcpy(requests + i * bench_ping_request_length, request, bench_ping_request_length);
    ssize_t length = count * bench_ping_request_length;
    each->pending += (int32_t)count;
    return send(each->socket, requests, (size_t)length, MSG_NOSIGNAL) == length;
}

/// Receives answers and returns their number. Returns -1 if a byte is wrong, an answer is unexpected, or the connection has ended.
static int32_t receive(client *each) {
    static const char answer[] = BENCH_PING_ANSWER;
    // Room for one byte more than all expected answers, to detect an unexpected answer.
    char bytes[bench_ping_most_depth * bench_ping_answer_length + 1];
    ssize_t count = recv(each->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count <= 0) return count < 0 && errno == EAGAIN ? 0 : -1;
    int32_t complete = 0;
    for (ssize_t i = 0; i < count; i++) {
        if (each->pending == 0 || bytes[i] != answer[each->position]) return -1;
        if (++each->position < bench_ping_answer_length) continue;
        each->position = 0;
        each->pending--;
        complete++;
    }
    return complete;
}

static inline int64_t least(int64_t one, int64_t other) { return one < other ? one : other; }

/// Sends the requests over the client `first` and every `step`th client after it, `active` clients in all.
static bool run(bench_load *load, int32_t first, int32_t step, int32_t active, int32_t depth, int64_t requests) {
    int64_t unsent = requests, unanswered = requests;
    for (int32_t i = 0; i < active && unsent > 0; i++) {
        int64_t next = least(unsent, depth);
        if (!ask(&load->clients[first + i * step], next)) return false;
        unsent -= next;
    }
    while (unanswered > 0) {
        struct epoll_event events[batch];
        int ready = epoll_wait(load->epoll, events, batch, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        for (int i = 0; i < ready; i++) {
            client *each = &load->clients[events[i].data.u32];
            int32_t complete = receive(each);
            if (complete < 0) return false;
            unanswered -= complete;
            int64_t next = least(unsent, complete);
            if (next > 0 && !ask(each, next)) return false;
            unsent -= next;
        }
    }
    return true;
}

bool bench_load_connect(bench_load *load, uint16_t port, int32_t count) {
    if (count > load->capacity - load->count) return false;
    for (int32_t i = 1; i <= count; i++) {
        int32_t number = load->count;
        client opened = {.socket = bench_ping_connect(port)};
        if (opened.socket < 0) return false;
        load->clients[number] = opened;
        load->count++;
        struct epoll_event interest = {.events = EPOLLIN, .data.u32 = (uint32_t)number};
        if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, opened.socket, &interest) != 0) return false;
        // The server accepts connections in order, so an answer on this connection means that the backlog is empty. The backlog
        // must never be full, because the kernel then waits a second before it tries again.
        if ((i % batch == 0 || i == count) && !run(load, number, 1, 1, 1, 1)) return false;
    }
    return true;
}

bool bench_load_run(bench_load *load, int32_t active, int32_t depth, int64_t requests) {
    if (active < 1 || active > load->count || depth < 1 || depth > bench_ping_most_depth) return false;
    return run(load, 0, load->count / active, active, depth, requests);
}
