#pragma once

#include <stdbool.h>
#include <stdint.h>

// TLS clients, and HTTP servers and clients with epoll and libcurl.

/// The settings of all TLS clients, which trust the certificates in the file. NULL if the file cannot be read.
typedef struct bench_tls bench_tls;
bench_tls *bench_tls_create(const char *authority);

void bench_tls_destroy(bench_tls *settings);

/// Connects `count` times, one after the other: shakes hands with TLS_AES_128_GCM_SHA256 and X25519, and closes the connection in
/// order. Returns false if a connection fails.
bool bench_tls_connect(bench_tls *settings, uint16_t port, int32_t count);

/// Connects, requests /body with HTTP/1.0, and receives until the stream ends. Returns the number of bytes, or -1 on failure.
int64_t bench_tls_download(bench_tls *settings, uint16_t port);

/// Connects, sends `count` bytes, and waits for the end of the server's stream. Returns false on failure.
bool bench_tls_upload(bench_tls *settings, uint16_t port, int64_t count);

/// Sends TLS records with one line feed each over `count` connections, as fast as the server reads, until the descriptor `stop` is
/// readable or closed. Returns false if a connection fails before.
bool bench_greedy_records(bench_tls *settings, uint16_t port, int32_t count, int stop);

/// Serves with epoll until the descriptor `stop` is readable. Each answer has a body of 13 bytes.
void bench_http_serve(int listener, int stop);

/// The lower bound for the cost of an HTTP client: `curl_multi_socket_action` with epoll. Not thread-safe.
typedef struct bench_curl bench_curl;
bench_curl *bench_curl_create(const char *url);
void bench_curl_destroy(bench_curl *client);

/// Makes requests, of which `parallel` are under way at once. Returns false if an answer is wrong.
bool bench_curl_run(bench_curl *client, int32_t parallel, int32_t requests);

/// Clients of an HTTP server, with one connection each. Not thread-safe.
typedef struct bench_visitors bench_visitors;

/// Opens the connections. Returns NULL if a connection is refused.
bench_visitors *bench_visitors_connect(uint16_t port, int32_t count);
void bench_visitors_leave(bench_visitors *visitors);

/// Makes requests, one at a time on each connection, and checks the status, the length and the body of every answer. Returns false
/// if an answer is wrong, or if no answer arrives for ten seconds.
bool bench_visitors_ask(bench_visitors *visitors, int32_t requests);

/// Clients of a WebSocket server that sends each message back, with one connection each. Not thread-safe.
typedef struct bench_sockets bench_sockets;

/// Opens the connections and shakes hands, for messages of `length` bytes. Returns NULL if the server refuses.
bench_sockets *bench_sockets_connect(uint16_t port, int32_t count, int32_t length);
void bench_sockets_leave(bench_sockets *sockets);

/// Sends messages, one at a time on each connection, and checks every byte that comes back. Returns false if a byte is wrong, or if
/// nothing arrives for ten seconds.
bool bench_sockets_ask(bench_sockets *sockets, int32_t messages);
