#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The parts of libmicrohttpd's daemon that the server needs. The functions that start and query a daemon are variadic, and Swift
// cannot call variadic functions.

/// A daemon: a listening socket, and the connections that it has accepted.
struct runloops_daemon;
/// A connection of a daemon, which has one request at a time.
struct runloops_link;
/// An answer to a request.
struct runloops_answer;
/// A connection that has left HTTP, until it is released.
struct runloops_upgraded;

/// The reasons that a request has ended.
enum runloops_end {
    runloops_sent,
    runloops_failed,
    runloops_timed_out,
    runloops_daemon_stopped,
    runloops_client_left,
};

/// The functions that a daemon calls during `runloops_daemon_run` and `runloops_daemon_free`.
struct runloops_daemon_callbacks {
    /// Called with a new connection. Returns the pointer that later calls get as `connection`.
    void *(*opened)(struct runloops_link *link, void *context);
    /// Called when a connection is closed.
    void (*closed)(void *connection, void *context);
    /// Called when the first line of a request was received. Returns the pointer that later calls get as `request`.
    void *(*began)(void *connection, const char *target);
    /// Called to continue a request: first with no bytes, when the header is complete; then with bytes of the body; finally with no
    /// bytes again, until the request is answered. The function takes the first bytes, sets `*count` to the number of bytes that it
    /// leaves, and returns false to close the connection.
    bool (*proceed)(void *request, const char *method, const char *version, const void *bytes, size_t *count);
    /// Called when a connection leaves HTTP, with its socket and the bytes that were received already.
    void (*upgraded)(
        void *request, int socket, const void *bytes, size_t count, struct runloops_upgraded *upgraded);
    /// Called when a request has ended.
    void (*ended)(void *request, enum runloops_end reason);
};

struct runloops_daemon_settings {
    /// The listening socket, which is non-blocking. The daemon closes the socket, unless the daemon cannot be started or gives the
    /// socket back.
    int socket;
    unsigned connections;
    /// 0 for no limit.
    unsigned connections_of_address;
    size_t connection_memory;
    /// 0 for no limit.
    unsigned idle_seconds;
    /// The certificate and its key, in PEM; NULL for a daemon without TLS.
    const char *certificate;
    const char *key;
};

/// Starts a daemon without threads; NULL if it cannot be started.
struct runloops_daemon *runloops_daemon_new(
    const struct runloops_daemon_settings *settings, const struct runloops_daemon_callbacks *callbacks, void *context);
/// Ends all requests, and closes all connections. No connection may be suspended.
void runloops_daemon_free(struct runloops_daemon *daemon);
/// The descriptor that is readable when the daemon has work.
int runloops_daemon_descriptor(struct runloops_daemon *daemon);
/// Does all work that can be done without waiting.
void runloops_daemon_run(struct runloops_daemon *daemon);
/// True if the daemon has work left that its descriptor does not report.
bool runloops_daemon_has_more(struct runloops_daemon *daemon);
/// Stops accepting, and gives the listening socket back; -1 if it was given back before.
int runloops_daemon_stop_accepting(struct runloops_daemon *daemon);

/// Stops serving a connection until it is resumed.
void runloops_link_suspend(struct runloops_link *link);
void runloops_link_resume(struct runloops_link *link);
int runloops_link_socket(struct runloops_link *link);
/// The number of bytes that have arrived at a socket and were not received; -1 if the number is not known.
int runloops_socket_unread(int socket);
/// True if the peer of a socket has ended its stream, or the connection is broken.
bool runloops_socket_is_at_end(int socket);
/// True if a connection waits to be accepted at a listening socket.
bool runloops_socket_has_connection(int socket);
void runloops_socket_close(int socket);
/// Ends a connection in both directions, so that the daemon closes it.
void runloops_socket_end(int socket);
/// Calls a function with each field of the header.
void runloops_link_fields(
    struct runloops_link *link,
    void (*visit)(void *context, const char *name, size_t name_count, const char *value, size_t value_count),
    void *context);
/// Sends an answer. Call it only inside `proceed` of the request. Returns false if that is not possible.
bool runloops_link_answer(struct runloops_link *link, unsigned status, struct runloops_answer *answer);

/// Makes an answer whose body is copied; NULL if there is no memory.
struct runloops_answer *runloops_answer_new(const void *bytes, size_t count);

enum { runloops_body_later = 0, runloops_body_end = -1, runloops_body_failed = -2 };
/// Called to get bytes of a body. Returns their number or one of the values above. A function that returns 0 must have suspended
/// the connection.
typedef long (*runloops_read_body)(void *context, void *room, size_t capacity);
/// Makes an answer whose body is produced while it is sent; NULL if there is no memory. `count` is -1 if it is not known.
struct runloops_answer *runloops_answer_new_stream(
    int64_t count, runloops_read_body read, void (*release)(void *context), void *context);
/// Makes an answer whose body is read from a regular file, which the answer closes; NULL if there is no memory.
struct runloops_answer *runloops_answer_new_file(int descriptor, uint64_t count);
/// Makes an answer after which the connection leaves HTTP; NULL if there is no memory.
struct runloops_answer *runloops_answer_new_upgrade(struct runloops_daemon *daemon);
/// Adds a field. Returns false if it is not allowed.
bool runloops_answer_add_field(struct runloops_answer *answer, const char *name, const char *value);
void runloops_answer_free(struct runloops_answer *answer);
/// Closes the daemon's descriptor of a connection that has left HTTP. Duplicates stay open.
void runloops_upgraded_release(struct runloops_upgraded *upgraded);

/// The number of bytes of a regular file after its offset; -1 if the file is of another kind, or with errno if a call fails.
int64_t runloops_body_size(int descriptor);
