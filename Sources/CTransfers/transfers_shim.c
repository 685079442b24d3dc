#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include "transfers_private.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Keeps OpenSSL from freeing its memory when the program exits: other threads may still use that memory, or free it as they end.
///
/// OpenSSL takes this option only before anything else initializes it, and libcurl does not set it. The function is looked up at run
/// time, because the program does not link to OpenSSL for libcurl's sake, and some builds of libcurl use another library.
static void keep_openssl_until_the_end(void) {
    int (*initialize)(uint64_t, const void *) = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    const uint64_t OPENSSL_INIT_NO_ATEXIT = 0x80000;
    if (initialize) initialize(OPENSSL_INIT_NO_ATEXIT, NULL);
}

bool runloops_transfers_prepare(void) {
    keep_openssl_until_the_end();
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *unused) {
    (void)easy, (void)unused;
    struct runloops_transfers *transfers = context;
    bool read = what == CURL_POLL_IN || what == CURL_POLL_INOUT, write = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
    transfers->watch(socket, read, write, transfers->context);
    return 0;
}

static int set_alarm(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct runloops_transfers *transfers = context;
    transfers->alarm(milliseconds, transfers->context);
    return 0;
}

struct runloops_transfers *runloops_transfers_new(
    long per_host, long total, runloops_watch watch_function, runloops_alarm alarm_function, void *context) {
    struct runloops_transfers *transfers = calloc(1, sizeof *transfers);
    if (transfers == NULL) return NULL;
    *transfers = (struct runloops_transfers){
        curl_multi_init(), curl_share_init(), watch_function, alarm_function, context};
    if (transfers->multi == NULL || transfers->sessions == NULL
        || curl_share_setopt(transfers->sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK) {
        runloops_transfers_free(transfers);
        return NULL;
    }
    curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETDATA, transfers);
    curl_multi_setopt(transfers->multi, CURLMOPT_TIMERFUNCTION, set_alarm);
    curl_multi_setopt(transfers->multi, CURLMOPT_TIMERDATA, transfers);
    curl_multi_setopt(transfers->multi, CURLMOPT_MAX_HOST_CONNECTIONS, per_host);
    curl_multi_setopt(transfers->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total);
    return transfers;
}

void runloops_transfers_free(struct runloops_transfers *transfers) {
    curl_multi_cleanup(transfers->multi);
    curl_share_cleanup(transfers->sessions);
    free(transfers);
}

void runloops_transfers_act(struct runloops_transfers *transfers, int descriptor, bool read, bool write, bool error) {
    int running;
    runloops_tls_forget_closed();
    runloops_tls_allow_reading();
    int events = (read ? CURL_CSELECT_IN : 0) | (write ? CURL_CSELECT_OUT : 0) | (error ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(transfers->multi, descriptor == -1 ? CURL_SOCKET_TIMEOUT : descriptor, events, &running);
}

void *runloops_transfers_next(struct runloops_transfers *transfers, int *code) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(transfers->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        struct runloops_transfer *transfer = NULL;
        *code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        return transfer->context;
    }
    return NULL;
}

int runloops_transfer_resume(struct runloops_transfer *transfer) {
    runloops_tls_allow_reading();
    return curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
}

bool runloops_transfer_has_sent(struct runloops_transfer *transfer) { return transfer->requests > 0; }

enum runloops_spoken runloops_transfer_spoken(struct runloops_transfer *transfer) { return transfer->spoken; }

int64_t runloops_transfer_progress(struct runloops_transfer *transfer) {
    long requests = 0, headers = 0;
    curl_off_t sent = 0, received = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &requests);
    if (requests == 0) return -1;
    curl_easy_getinfo(transfer->easy, CURLINFO_HEADER_SIZE, &headers);
    curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return requests + headers + sent + received;
}

const char *runloops_transfer_words(struct runloops_transfer *transfer, int code) {
    return transfer->words[0] ? transfer->words : curl_easy_strerror(code);
}

/// True if a proxy that is to get addresses, not names, needs the address of the host.
static bool proxy_needs_address(struct runloops_transfer *transfer) {
    long reason = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_PROXY_ERROR, &reason);
    return reason == CURLPX_RESOLVE_HOST;
}

enum runloops_result runloops_transfer_result(struct runloops_transfer *transfer, int code) {
    if (transfer->was_refused) {
        if (code == CURLE_COULDNT_RESOLVE_PROXY) return runloops_needs_proxy;
        if (code == CURLE_COULDNT_RESOLVE_HOST) return runloops_needs_host;
        if (code == CURLE_PROXY && proxy_needs_address(transfer)) return runloops_needs_host;
    }
    switch (code) {
    case CURLE_OK: return runloops_complete;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return runloops_bad_url;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return runloops_unresolved;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY: return runloops_not_connected;
    case CURLE_OPERATION_TIMEDOUT: return runloops_timed_out;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR: return runloops_bad_certificate;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_USE_SSL_FAILED: return runloops_tls_failed;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2_STREAM: return runloops_connection_lost;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
    case CURLE_HTTP3: return runloops_bad_answer;
    case CURLE_SEND_FAIL_REWIND: return runloops_not_repeatable;
    case CURLE_WRITE_ERROR:
    case CURLE_ABORTED_BY_CALLBACK:
    case CURLE_READ_ERROR: return runloops_stopped;
#if LIBCURL_VERSION_NUM >= 0x080600
    // Newer versions tell something that is too large from a lack of memory.
    case CURLE_TOO_LARGE:
#endif
    case CURLE_OUT_OF_MEMORY: return runloops_no_memory;
    default: return runloops_other_result;
    }
}

int64_t runloops_file_rest(int descriptor, bool *is_regular, int64_t *offset) {
    struct stat file;
    *is_regular = false;
    *offset = 0;
    if (fstat(descriptor, &file) == -1) return -1;
    if (!S_ISREG(file.st_mode)) return -1;
    *offset = lseek(descriptor, 0, SEEK_CUR);
    if (*offset == -1) return -1;
    *is_regular = true;
    return file.st_size > *offset ? file.st_size - *offset : 0;
}
