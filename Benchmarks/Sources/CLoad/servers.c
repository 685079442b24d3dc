#define _GNU_SOURCE
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// Sockets and parsing, for all servers and the load.

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void send_at_once(int socket) {
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int bench_ping_listen(uint16_t port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = loopback(port);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1024) == 0)
        return listener;
    close(listener);
    return -1;
}

uint16_t bench_ping_port(int listener) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) abort();
    return ntohs(address.sin_port);
}

int bench_ping_accept(int listener) {
    int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
        send_at_once(accepted);
    } else if (errno != EAGAIN && errno != ECONNABORTED) {
        abort();
    }
    return accepted;
}

int bench_ping_connect(uint16_t port) {
    int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened < 0) return -1;
    struct timeval patience = {.tv_sec = 10};
    setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    struct linger reset = {.l_onoff = 1};
    setsockopt(opened, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    send_at_once(opened);
    struct sockaddr_in address = loopback(port);
    if (connect(opened, (struct sockaddr *)&address, sizeof address) == 0) return opened;
    close(opened);
    return -1;
}

int32_t bench_ping_requests(int32_t *position, const void *bytes, int64_t count) {
    static const char request[] = BENCH_PING_REQUEST;
    int32_t requests = 0;
    int32_t place = *position;
    for (const char *each = bytes, *end = each + count; each < end; each++) {
        if (place < 0 || (place == 0 && (*each == '*' || *each == '$'))) {
            // Inside a line that is ignored.
            place = *each == '\n' ? 0 : -1;
        } else if (*each != request[place]) {
            return -1;
        } else if (++place == bench_ping_request_length) {
            place = 0;
            requests++;
        }
    }
    *position = place;
    return requests;
}

static char answers[bench_ping_answer_length * bench_ping_most_answers];

__attribute__((constructor)) static void fill_answers(void) {
    for (int i = 0; i < bench_ping_most_answers; i++)
        memcpy(answers + i * bench_ping_answer_length, BENCH_PING_ANSWER, bench_ping_answer_length);
}

const void *bench_ping_answers(void) { return answers; }

// The server on epoll.

typedef struct {
    /// The position in the current line, and the number of bytes of answers that are not sent yet.
    int32_t position, unsent;
    bool is_open;
} peer;

/// The peers, indexed by socket.
typedef struct {
    int epoll, capacity;
    peer *peers;
} peer_table;

static bool watch(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event interest = {.events = events, .data.fd = descriptor};
    return epoll_ctl(epoll, operation, descriptor, &interest) == 0;
}

static void add_peer(peer_table *table, int socket) {
    if (socket >= table->capacity) {
        int capacity = 2 * socket;
        table->peers = realloc(table->peers, (size_t)capacity * sizeof(peer));
        if (!table->peers) abort();
        memset(table->peers + table->capacity, 0, (size_t)(capacity - table->capacity) * sizeof(peer));
        table->capacity = capacity;
    }
    table->peers[socket] = (peer){.is_open = true};
    if (!watch(table->epoll, EPOLL_CTL_ADD, socket, EPOLLIN)) abort();
}

/// Handles an epoll event of a peer. Returns false if the connection must be closed.
///
/// While answers are unsent, the server sends them, and receives nothing from the peer.
static bool serve_peer(peer_table *table, int socket) {
    peer *each = &table->peers[socket];
    bool was_blocked = each->unsent > 0;
    if (!was_blocked) {
        char bytes[bench_ping_buffer_size];
        ssize_t count = recv(socket, bytes, sizeof bytes, 0);
        if (count <= 0) return count < 0 && errno == EAGAIN;
        int32_t requests = bench_ping_requests(&each->position, bytes, count);
        if (requests < 0) return false;
        if (requests == 0) return true;
        each->unsent = requests * bench_ping_answer_length;
    }
    // All answers are equal, so the unsent bytes are always the last bytes of `answers`.
    ssize_t sent = send(
        socket, answers + sizeof answers - (size_t)each->unsent, (size_t)each->unsent, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) each->unsent -= (int32_t)sent;
    bool is_blocked = each->unsent > 0;
    return is_blocked == was_blocked
        || watch(table->epoll, EPOLL_CTL_MOD, socket, is_blocked ? EPOLLOUT : EPOLLIN);
}

void bench_ping_serve_epoll(int listener, int stop) {
    peer_table table = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    if (!watch(table.epoll, EPOLL_CTL_ADD, listener, EPOLLIN)
        || !watch(table.epoll, EPOLL_CTL_ADD, stop, EPOLLIN))
        abort();
    for (bool is_over = false; !is_over;) {
        struct epoll_event events[256];
        int ready = epoll_wait(table.epoll, events, sizeof events / sizeof *events, -1);
        for (int i = 0; i < ready; i++) {
            int descriptor = events[i].data.fd;
            if (descriptor == stop) {
                is_over = true;
            } else if (descriptor == listener) {
                for (int next; (next = bench_ping_accept(listener)) >= 0;) add_peer(&table, next);
            } else if (!serve_peer(&table, descriptor)) {
                table.peers[descriptor].is_open = false;
                close(descriptor);
            }
        }
    }
    for (int socket = 0; socket < table.capacity; socket++)
        if (table.peers[socket].is_open) close(socket);
    free(table.peers);
    close(table.epoll);
}

// The server on bufferevents.

typedef struct buffered_peer {
    struct bufferevent *event;
    int32_t position;
    /// The next peer of the server, and the address of the pointer to this peer.
    struct buffered_peer *next, **place;
} buffered_peer;

typedef struct {
    struct event_base *base;
    buffered_peer *first;
} buffered_server;

static void close_buffered(buffered_peer *each) {
    *each->place = each->next;
    if (each->next) each->next->place = each->place;
    bufferevent_free(each->event);
    free(each);
}

static void buffered_read(struct bufferevent *event, void *context) {
    buffered_peer *each = context;
    char bytes[bench_ping_buffer_size];
    for (size_t count; (count = bufferevent_read(event, bytes, sizeof bytes)) > 0;) {
        int32_t requests = bench_ping_requests(&each->position, bytes, (int64_t)count);
        if (requests < 0) return close_buffered(each);
        if (bufferevent_write(event, answers, (size_t)requests * bench_ping_answer_length) != 0) abort();
    }
}

static void buffered_ended(struct bufferevent *event, short what, void *context) { close_buffered(context); }

static void buffered_accept(
    struct evconnlistener *listener, evutil_socket_t socket, struct sockaddr *address, int length,
    void *context) {
    buffered_server *server = context;
    send_at_once(socket);
    buffered_peer *added = malloc(sizeof(buffered_peer));
    if (!added) abort();
    *added = (buffered_peer){
        .event = bufferevent_socket_new(server->base, socket, BEV_OPT_CLOSE_ON_FREE),
        .next = server->first,
        .place = &server->first,
    };
    if (!added->event) abort();
    if (server->first) server->first->place = &added->next;
    server->first = added;
    bufferevent_setcb(added->event, buffered_read, NULL, buffered_ended, added);
    if (bufferevent_enable(added->event, EV_READ) != 0) abort();
}

static void buffered_stop(evutil_socket_t stop, short what, void *context) { event_base_loopbreak(context); }

void bench_ping_serve_bufferevent(int listener, int stop) {
    struct event_config *config = event_config_new();
    if (!config || event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) != 0) abort();
    buffered_server server = {.base = event_base_new_with_config(config)};
    event_config_free(config);
    if (!server.base) abort();
    struct evconnlistener *accepting = evconnlistener_new(
        server.base, buffered_accept, &server, LEV_OPT_CLOSE_ON_EXEC, 0, listener);
    struct event *stopping = event_new(server.base, stop, EV_READ, buffered_stop, server.base);
    if (!accepting || !stopping || event_add(stopping, NULL) != 0) abort();
    event_base_dispatch(server.base);
    while (server.first) close_buffered(server.first);
    evconnlistener_free(accepting);
    event_free(stopping);
    event_base_free(server.base);
}
