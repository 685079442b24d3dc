#pragma once

#include <stdbool.h>
#include <stdint.h>

// Redis' PING over TCP on the loopback interface: the clients that make the load, and two servers in C.
//
// A server answers the line PING with +PONG, and ignores lines that begin with * or $, so that it also understands a PING that
// a Redis client sends as an array. It closes a connection that sends anything else.

#define BENCH_PING_REQUEST "PING\r\n"
#define BENCH_PING_ANSWER "+PONG\r\n"

enum {
    bench_ping_request_length = 6,
    bench_ping_answer_length = 7,
    /// The most bytes that a server receives at once.
    bench_ping_buffer_size = 16384,
    /// The most answers to the requests in one buffer.
    bench_ping_most_answers = bench_ping_buffer_size / bench_ping_request_length + 1,
    /// The most requests that a client has under way.
    bench_ping_most_depth = 64,
};

/// Opens a socket that listens on a port of the loopback interface, where 0 stands for any free port; -1 if the kernel refuses.
int bench_ping_listen(uint16_t port);

/// The port of a socket that listens.
uint16_t bench_ping_port(int listener);

/// Accepts a connection, which is non-blocking; -1 if none waits. The program ends if descriptors run out.
int bench_ping_accept(int listener);

/// Opens a connection, which is reset when it is closed; -1 if the kernel refuses, or it is not accepted for ten seconds.
int bench_ping_connect(uint16_t port);

/// Counts the requests that end in these bytes of a connection; -1 if the bytes are not understood.
///
/// `position` is the connection's place in its current line, and 0 before its first.
int32_t bench_ping_requests(int32_t *position, const void *bytes, int64_t count);

/// As many answers as there can be to one buffer, one after the other.
const void *bench_ping_answers(void);

/// Serves with epoll, level-triggered, until the descriptor `stop` is readable.
void bench_ping_serve_epoll(int listener, int stop);

/// Serves with libevent's bufferevents until the descriptor `stop` is readable.
void bench_ping_serve_bufferevent(int listener, int stop);

/// Clients that send requests and check every byte of the answers. One thread.
typedef struct bench_load bench_load;

/// Returns a load of at most this many connections, with all the memory it needs, or NULL if memory or descriptors run out.
bench_load *bench_load_create(int32_t capacity);

/// Closes all connections and frees the load.
void bench_load_destroy(bench_load *load);

/// Opens connections, and waits until the server has accepted them; false if the server or the kernel refuses one.
bool bench_load_connect(bench_load *load, uint16_t port, int32_t count);

/// Closes all connections with a reset, which leaves nothing behind in the kernel.
void bench_load_disconnect(bench_load *load);

/// Sends this many requests in all, over `active` of the connections, and keeps at most `depth` of them under way on each.
///
/// Returns true once all were answered; false if an answer is wrong, is one too many, or has not come for ten seconds.
bool bench_load_run(bench_load *load, int32_t active, int32_t depth, int64_t requests);
