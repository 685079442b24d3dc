#define CURL_DISABLE_TYPECHECK
#include "traps.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

/// The number of bytes in one call of libcurl after which further bytes are held back.
enum { room = 128 << 10 };

struct download {
    enum traps_trap trap;
    CURLM *multi;
    CURL *easy;
    /// The socket and the time for which libcurl waits; -1 for none.
    struct pollfd socket;
    long milliseconds;
    /// The number of bytes that the present call of libcurl has delivered.
    long long count_in_action;
    bool is_held;
    struct traps_findings findings;
};

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *unused) {
    (void)easy, (void)unused;
    struct download *download = context;
    short events = (what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0);
    download->socket = (struct pollfd){.fd = what == CURL_POLL_REMOVE ? -1 : socket, .events = events};
    return 0;
}

static int set_alarm(CURLM *multi, long milliseconds, void *context) {
    struct download *download = context;
    if (download->trap == traps_multi_in_timer && milliseconds == 0) {
        int running;
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    } else {
        download->milliseconds = milliseconds;
    }
    return 0;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
    struct download *download = context;
    if (size * count > 5 && memcmp(bytes, "HTTP/", 5) == 0) download->findings.status_lines += 1;
    return size * count;
}

static bool holds_back(const struct download *download) {
    switch (download->trap) {
    case traps_resume: return download->findings.count == 0 && !download->is_held;
    case traps_no_bound: return false;
    default: return download->count_in_action >= room;
    }
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    struct download *download = context;
    if (holds_back(download)) {
        download->is_held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (download->trap == traps_multi_in_write) curl_multi_remove_handle(download->multi, download->easy);
    struct traps_findings *findings = &download->findings;
    if (download->is_held) findings->pieces_in_resume += 1;
    findings->count += (long long)(size * count);
    download->count_in_action += (long long)(size * count);
    if (download->count_in_action > findings->count_in_action) findings->count_in_action = download->count_in_action;
    return size * count;
}

/// Lets libcurl work until the transfer has ended, or libcurl waits for nothing.
static void run(struct download *download) {
    int running = 1;
    while (running > 0 && (download->socket.fd >= 0 || download->milliseconds >= 0)) {
        bool is_ready = poll(&download->socket, 1, (int)download->milliseconds) > 0;
        short found = is_ready ? download->socket.revents : 0;
        int events = (found & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) | (found & POLLOUT ? CURL_CSELECT_OUT : 0);
        curl_socket_t socket = is_ready ? download->socket.fd : CURL_SOCKET_TIMEOUT;
        download->count_in_action = 0;
        curl_multi_socket_action(download->multi, socket, events, &running);
        if (!download->is_held) continue;
        download->count_in_action = 0;
        curl_easy_pause(download->easy, CURLPAUSE_CONT);
        download->is_held = false;
    }
}

struct traps_findings traps_download(const char *url, enum traps_trap trap, long long limit) {
    struct download download = {.trap = trap, .socket.fd = -1, .milliseconds = -1, .findings.code = -1};
    CURLM *multi = download.multi = curl_multi_init();
    CURL *easy = download.easy = curl_easy_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &download);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_alarm);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &download);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)limit);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &download);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &download);
    curl_multi_add_handle(multi, easy);
    run(&download);
    int left;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (message) download.findings.code = message->data.result;
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    return download.findings;
}

unsigned traps_version(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }
