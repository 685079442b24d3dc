#pragma once

#include <stdbool.h>
#include <stdint.h>

// Redis' PING over TCP on the loopback interface: the clients that make the load, and two servers in C.
//
// A server answers the line PING with +PONG, and ignores lines that begin with * or $. A PING that a Redis client sends as an array
// is therefore answered, too. The server closes a connection that sends anything else.

#define BENCH_PING_REQUEST "PING\r\n"
#define BENCH_PING_ANSWER "+PONG\r\n"

enum {
    bench_ping_request_length = 6,
    bench_ping_answer_length = 7,
    /// The maximum number of bytes that a server receives at once.
    bench_ping_buffer_size = 16384,
    /// The maximum number of answers to the requests in one buffer.
    bench_ping_most_answers = bench_ping_buffer_size / bench_ping_request_length + 1,
    /// The maximum number of requests that a client has under way.
    bench_ping_most_depth = 64,
};

/// Opens a socket that listens on a port of the loopback interface. Port 0 stands for any free port. Returns -1 if the kernel
/// refuses.
int bench_ping_listen(uint16_t port);

/// The port of a listening socket.
uint16_t bench_ping_port(int listener);

/// Accepts a connection as a non-blocking socket. Returns -1 if no connection waits. Ends the program if descriptors run out.
int bench_ping_accept(int listener);

/// Opens a connection that is reset when it is closed. Returns -1 if the kernel refuses, or if connecting takes ten seconds.
int bench_ping_connect(uint16_t port);

/// Returns the number of requests that end in these bytes of a connection, or -1 if the bytes break the protocol.
///
/// `position` is the connection's position in its current line, and 0 before the first line.
int32_t bench_ping_requests(int32_t *position, const void *bytes, int64_t count);

/// The answers to the maximum number of requests in one buffer, one after the other.
const void *bench_ping_answers(void);

/// Serves with epoll, level-triggered, until the descriptor `stop` is readable.
void bench_ping_serve_epoll(int listener, int stop);

/// Serves with libevent's bufferevents until the descriptor `stop` is readable.
void bench_ping_serve_bufferevent(int listener, int stop);

/// Clients that send requests and check every byte of the answers. Not thread-safe.
typedef struct bench_load bench_load;

/// Returns a load of at most `capacity` connections, with all of its memory, or NULL if memory or descriptors run out.
bench_load *bench_load_create(int32_t capacity);

/// Closes all connections and frees the load.
void bench_load_destroy(bench_load *load);

/// Opens connections, and waits until the server has accepted them. Returns false if the server or the kernel refuses a connection.
bool bench_load_connect(bench_load *load, uint16_t port, int32_t count);

/// Closes all connections with a reset, which leaves no socket in TIME_WAIT.
void bench_load_disconnect(bench_load *load);

/// Sends `requests` requests in all over `active` of the connections, with at most `depth` requests under way on each connection.
///
/// Returns true after all answers have arrived. Returns false if an answer is wrong or unexpected, or if no answer arrives for ten
/// seconds.
bool bench_load_run(bench_load *load, int32_t active, int32_t depth, int64_t requests);

// Peers that are never out of bytes, each in a process of its own. They return when the descriptor `stop` is readable or closed:
// true if the other end has accepted everything until then.

/// Sends line feeds over `count` connections to a port of the loopback interface, as fast as the server reads.
bool bench_greedy_connections(uint16_t port, int32_t count, int stop);

/// Answers every HTTP request with chunks of one byte, without an end.
bool bench_greedy_answers(int listener, int stop);
