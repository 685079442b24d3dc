#pragma once

#include <stdbool.h>
#include <stdint.h>

// The clients of servers that speak TLS, and the least that HTTP costs with libcurl.

/// Makes the settings of all clients, which trust what is in the file. Returns NULL if it cannot be read.
typedef struct bench_tls bench_tls;
bench_tls *bench_tls_create(const char *authority);

/// Frees the settings.
void bench_tls_destroy(bench_tls *settings);

/// Connects, shakes hands with TLS_AES_128_GCM_SHA256 and X25519, and ends the connection in order, this many times, one after
/// the other. Returns false if one fails.
bool bench_tls_connect(bench_tls *settings, uint16_t port, int32_t count);

/// Connects, asks for /body in the manner of HTTP/1.0, and receives to the end. Returns the number of bytes, -1 for a failure.
int64_t bench_tls_download(bench_tls *settings, uint16_t port);

/// Connects, sends this many bytes, and waits for the end of the server's stream. Returns false for a failure.
bool bench_tls_upload(bench_tls *settings, uint16_t port, int64_t count);

/// Answers each request with 13 bytes, with epoll, until the descriptor `stop` is readable.
void bench_http_serve(int listener, int stop);

/// The least that a client of HTTP costs: `curl_multi_socket_action` with epoll. One thread.
typedef struct bench_curl bench_curl;
bench_curl *bench_curl_create(const char *url);
void bench_curl_destroy(bench_curl *client);

/// Makes requests, of which this many are under way at once. Returns false if an answer is wrong.
bool bench_curl_run(bench_curl *client, int32_t parallel, int32_t requests);

/// libmicrohttpd on a thread of its own, which answers each request with 13 bytes; NULL if it cannot be started.
typedef struct bench_daemon bench_daemon;
bench_daemon *bench_daemon_start(void);
uint16_t bench_daemon_port(const bench_daemon *daemon);

/// The number of the thread; 0 before the first answer.
int32_t bench_daemon_thread(const bench_daemon *daemon);

/// Ends the thread, and closes all connections.
void bench_daemon_stop(bench_daemon *daemon);

/// Clients of an HTTP server, one connection each. One thread.
typedef struct bench_visitors bench_visitors;

/// Opens the connections; NULL if one is refused.
bench_visitors *bench_visitors_connect(uint16_t port, int32_t count);
void bench_visitors_leave(bench_visitors *visitors);

/// Makes requests, one at a time on each connection, and checks every answer: the status, the length and the body. Returns false
/// if one is wrong, or has not come for ten seconds.
bool bench_visitors_ask(bench_visitors *visitors, int32_t requests);
