#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include "web.h"

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// MARK: - The server

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!";

enum { body_length = 13 };

void bench_http_serve(int listener, int stop) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    event.data.fd = stop;
    epoll_ctl(epoll, EPOLL_CTL_ADD, stop, &event);
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            int each = events[i].data.fd;
            if (each == stop) {
                close(epoll);
                return;
            }
            if (each == listener) {
                int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (accepted < 0) continue;
                int on = 1;
                setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = accepted};
                epoll_ctl(epoll, EPOLL_CTL_ADD, accepted, &event);
                continue;
            }
            char bytes[4096];
            ssize_t count = recv(each, bytes, sizeof bytes, 0);
            if (count <= 0) {
                if (count == 0 || errno != EAGAIN) close(each);
                continue;
            }
            // These clients send one small request at a time, and each request arrives whole.
            if (count >= 4 && memcmp(bytes + count - 4, "\r\n\r\n", 4) == 0)
                send(each, answer, sizeof answer - 1, MSG_NOSIGNAL);
        }
    }
}

// MARK: - The client

enum { most_parallel = 64 };

struct bench_curl {
    CURLM *multi;
    char *url;
    /// The handles that no transfer uses.
    CURL *spares[most_parallel];
    int32_t spare_count;
    int epoll;
    /// The time until libcurl's deadline in milliseconds, or -1 without a deadline.
    long alarm;
    int64_t received;
};

static int watch(CURL *transfer, curl_socket_t socket, int what, void *context, void *known) {
    (void)transfer;
    bench_curl *client = context;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(client->epoll, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    struct epoll_event event = {
        .events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0), .data.fd = socket};
    if (epoll_ctl(client->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST)
        epoll_ctl(client->epoll, EPOLL_CTL_MOD, socket, &event);
    curl_multi_assign(client->multi, socket, client);
    return 0;
}

static int set_alarm(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    ((bench_curl *)context)->alarm = milliseconds;
    return 0;
}

static size_t skip_header(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    ((bench_curl *)context)->received += (int64_t)(size * count);
    return size * count;
}

bench_curl *bench_curl_create(const char *url) {
    bench_curl *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    client->multi = curl_multi_init();
    client->epoll = epoll_create1(EPOLL_CLOEXEC);
    client->url = strdup(url);
    client->alarm = -1;
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, set_alarm);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    return client;
}

void bench_curl_destroy(bench_curl *client) {
    while (client->spare_count > 0) curl_easy_cleanup(client->spares[--client->spare_count]);
    curl_multi_cleanup(client->multi);
    close(client->epoll);
    free(client->url);
    free(client);
}

/// Makes a handle with the settings of `HTTPClient` for redirects, protocols, compression and headers.
static CURL *make_handle(bench_curl *client) {
    CURL *transfer = curl_easy_init();
    if (!transfer) return NULL;
    curl_easy_setopt(transfer, CURLOPT_HEADERFUNCTION, skip_header);
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(transfer, CURLOPT_WRITEDATA, client);
    curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(transfer, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(transfer, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(transfer, CURLOPT_ACCEPT_ENCODING, "");
    return transfer;
}

/// Starts a transfer, with a handle that was used before if there is one, like `HTTPClient`.
static bool start(bench_curl *client) {
    CURL *transfer = client->spare_count > 0 ? client->spares[--client->spare_count] : make_handle(client);
    if (!transfer) return false;
    curl_easy_setopt(transfer, CURLOPT_URL, client->url);
    return curl_multi_add_handle(client->multi, transfer) == CURLM_OK;
}

bool bench_curl_run(bench_curl *client, int32_t parallel, int32_t requests) {
    if (parallel > most_parallel) return false;
    int32_t started = 0, ended = 0;
    client->received = 0;
    while (started < parallel && started < requests) {
        if (!start(client)) return false;
        started++;
    }
    while (ended < requests) {
        struct epoll_event events[64];
        int running;
        int ready = epoll_wait(client->epoll, events, 64, client->alarm < 0 || client->alarm > 10000 ? 10000 : (int)client->alarm);
        if (ready < 0 && errno != EINTR) return false;
        if (ready == 0) {
            client->alarm = -1;
            curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int i = 0; i < ready; i++) {
            int what = (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0)
                | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
                | (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(client->multi, events[i].data.fd, what, &running);
        }
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(client->multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *transfer = message->easy_handle;
            long status = 0;
            curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
            bool is_good = message->data.result == CURLE_OK && status == 200;
            curl_multi_remove_handle(client->multi, transfer);
            client->spares[client->spare_count++] = transfer;
            if (!is_good) return false;
            ended++;
            if (started < requests) {
                if (!start(client)) return false;
                started++;
            }
        }
    }
    return client->received == (int64_t)requests * body_length;
}
