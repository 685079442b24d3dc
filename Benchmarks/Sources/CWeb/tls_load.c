#define _GNU_SOURCE
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct bench_tls {
    SSL_CTX *context;
};

bench_tls *bench_tls_create(const char *authority) {
    bench_tls *settings = calloc(1, sizeof *settings);
    if (!settings) return NULL;
    settings->context = SSL_CTX_new(TLS_client_method());
    SSL_CTX *context = settings->context;
    if (context && SSL_CTX_load_verify_locations(context, authority, NULL) == 1
        && SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1
        && SSL_CTX_set1_groups_list(context, "X25519") == 1 && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1) {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        return settings;
    }
    bench_tls_destroy(settings);
    return NULL;
}

void bench_tls_destroy(bench_tls *settings) {
    SSL_CTX_free(settings->context);
    free(settings);
}

/// Connects and shakes hands. Returns NULL on failure.
static SSL *open_stream(bench_tls *settings, uint16_t port) {
    int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened < 0) return NULL;
    int on = 1;
    setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct timeval patience = {.tv_sec = 10};
    setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    SSL *stream = connect(opened, (struct sockaddr *)&address, sizeof address) == 0 ? SSL_new(settings->context) : NULL;
    if (stream && SSL_set_fd(stream, opened) == 1 && SSL_connect(stream) == 1) return stream;
    SSL_free(stream);
    close(opened);
    return NULL;
}

/// Receives until the server's stream ends. Returns the number of bytes.
static int64_t drain(SSL *stream) {
    char bytes[16384];
    int64_t sum = 0;
    int count;
    while ((count = SSL_read(stream, bytes, sizeof bytes)) > 0) sum += count;
    return sum;
}

static void close_stream(SSL *stream) {
    int opened = SSL_get_fd(stream);
    SSL_free(stream);
    close(opened);
}

bool bench_tls_connect(bench_tls *settings, uint16_t port, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        SSL *stream = open_stream(settings, port);
        if (!stream) return false;
        SSL_shutdown(stream);
        drain(stream);
        close_stream(stream);
    }
    return true;
}

int64_t bench_tls_download(bench_tls *settings, uint16_t port) {
    static const char request[] = "GET /body HTTP/1.0\r\n\r\n";
    SSL *stream = open_stream(settings, port);
    if (!stream) return -1;
    SSL_write(stream, request, sizeof request - 1);
    int64_t count = drain(stream);
    close_stream(stream);
    return count;
}

bool bench_tls_upload(bench_tls *settings, uint16_t port, int64_t count) {
    static char bytes[16384];
    SSL *stream = open_stream(settings, port);
    if (!stream) return false;
    bool is_good = true;
    for (int64_t sent = 0; is_good && sent < count; sent += (int64_t)sizeof bytes)
        is_good = SSL_write(stream, bytes, sizeof bytes) == sizeof bytes;
    SSL_shutdown(stream);
    drain(stream);
    close_stream(stream);
    return is_good;
}

/// A connection whose records are encrypted into memory, so that one system call can send many of them.
typedef struct {
    SSL *stream;
    BIO *records;
    int socket;
} greedy_stream;

/// Sends the records that are left, or new ones. Returns false if the connection has failed.
static bool send_records(greedy_stream *each) {
    enum { most = 2048 };
    if (BIO_pending(each->records) == 0)
        for (int i = 0; i < most; i++)
            if (SSL_write(each->stream, "\n", 1) != 1) return false;
    char *bytes;
    long length = BIO_get_mem_data(each->records, &bytes);
    ssize_t sent = send(each->socket, bytes, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN;
    // Reading discards what was sent.
    char discarded[16384];
    while (sent > 0) {
        int part = sent < (ssize_t)sizeof discarded ? (int)sent : (int)sizeof discarded;
        BIO_read(each->records, discarded, part);
        sent -= part;
    }
    return true;
}

bool bench_greedy_records(bench_tls *settings, uint16_t port, int32_t count, int stop) {
    greedy_stream *streams = calloc((size_t)count, sizeof *streams);
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = NULL};
    if (!streams || set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, stop, &interest) != 0) return false;
    for (int32_t i = 0; i < count; i++) {
        greedy_stream *each = &streams[i];
        each->stream = open_stream(settings, port);
        each->records = BIO_new(BIO_s_mem());
        if (!each->stream || !each->records) return false;
        each->socket = SSL_get_fd(each->stream);
        SSL_set0_wbio(each->stream, each->records);
        interest = (struct epoll_event){.events = EPOLLOUT, .data.ptr = each};
        if (epoll_ctl(set, EPOLL_CTL_ADD, each->socket, &interest) != 0) return false;
    }
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(set, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            if (!events[i].data.ptr) return true;
            if (!send_records(events[i].data.ptr)) return false;
        }
    }
}
