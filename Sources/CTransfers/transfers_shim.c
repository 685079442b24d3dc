#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include "transfers_shim.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct runloops_transfers {
    CURLM *multi;
    runloops_watch watch;
    runloops_alarm alarm;
    void *context;
};

struct runloops_transfer {
    CURL *easy;
    struct curl_slist *fields;
    struct runloops_callbacks callbacks;
    void *context;
    char words[CURL_ERROR_SIZE];
};

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
    *transfers = (struct runloops_transfers){curl_multi_init(), watch_function, alarm_function, context};
    if (transfers->multi == NULL) {
        free(transfers);
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
    free(transfers);
}

void runloops_transfers_act(struct runloops_transfers *transfers, int descriptor, bool read, bool write, bool error) {
    int running;
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

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
    struct runloops_transfer *transfer = context;
    return transfer->callbacks.header(bytes, size * count, transfer->context) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    struct runloops_transfer *transfer = context;
    switch (transfer->callbacks.body(bytes, size * count, transfer->context)) {
    case runloops_taken: return size * count;
    case runloops_hold: return CURL_WRITEFUNC_PAUSE;
    default: return CURL_WRITEFUNC_ERROR;
    }
}

static size_t give_body(char *bytes, size_t size, size_t count, void *context) {
    struct runloops_transfer *transfer = context;
    long given = transfer->callbacks.give(bytes, size * count, transfer->context);
    if (given == runloops_read_wait) return CURL_READFUNC_PAUSE;
    return given < 0 ? CURL_READFUNC_ABORT : (size_t)given;
}

static int seek_body(void *context, curl_off_t offset, int origin) {
    struct runloops_transfer *transfer = context;
    if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
    return transfer->callbacks.rewind(transfer->context) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

struct runloops_transfer *runloops_transfer_new(
    const struct runloops_settings *settings, const struct runloops_callbacks *callbacks) {
    struct runloops_transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer == NULL) return NULL;
    CURL *easy = transfer->easy = curl_easy_init();
    if (easy == NULL) {
        free(transfer);
        return NULL;
    }
    transfer->callbacks = *callbacks;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->words);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek_body);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
    // Without this, libcurl changes the disposition of SIGPIPE for the whole process during each call.
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // Without this, the end of a transfer waits for getaddrinfo, which runs on a thread of libcurl.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, settings->connect_milliseconds);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, settings->redirects > 0 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, settings->redirects);
    long version = CURL_HTTP_VERSION_2TLS;
    if (settings->versions == runloops_http1) version = CURL_HTTP_VERSION_1_1;
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
    if (settings->proxy) curl_easy_setopt(easy, CURLOPT_PROXY, settings->proxy);
    bool is_set = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK
        && curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK;
    if (settings->is_compressed) is_set &= curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "") == CURLE_OK;
    if (settings->agent) is_set &= curl_easy_setopt(easy, CURLOPT_USERAGENT, settings->agent) == CURLE_OK;
    if (settings->authorities) {
        is_set &= curl_easy_setopt(easy, CURLOPT_CAINFO, settings->authorities) == CURLE_OK;
        // Otherwise the system's directory of authorities would be trusted, too.
        is_set &= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
    }
    if (settings->certificate) is_set &= curl_easy_setopt(easy, CURLOPT_SSLCERT, settings->certificate) == CURLE_OK;
    if (settings->key) is_set &= curl_easy_setopt(easy, CURLOPT_SSLKEY, settings->key) == CURLE_OK;
    if (!is_set) {
        runloops_transfer_free(transfer);
        return NULL;
    }
    return transfer;
}

void runloops_transfer_free(struct runloops_transfer *transfer) {
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->fields);
    free(transfer);
}

bool runloops_transfer_add_field(struct runloops_transfer *transfer, const char *line) {
    struct curl_slist *longer = curl_slist_append(transfer->fields, line);
    if (longer == NULL) return false;
    transfer->fields = longer;
    return true;
}

int runloops_transfer_begin(
    struct runloops_transfer *transfer, struct runloops_transfers *transfers, const struct runloops_request *request,
    void *context) {
    CURL *easy = transfer->easy;
    transfer->context = context;
    transfer->words[0] = 0;
    // The handle may have been used before: each of these is set every time.
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)-1);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request->milliseconds);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->fields);
    if (request->method == runloops_head) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (request->method == runloops_post) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->count);
        CURLcode code = CURLE_OK;
        if (request->body == runloops_given_body) {
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
        } else {
            code = curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->bytes ? request->bytes : "");
        }
        if (code != CURLE_OK) return code;
    } else if (request->body != runloops_no_body) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->count);
    }
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->name);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_URL, request->url);
    // With this option, a transfer waits until libcurl knows if a connection can be shared. With TLS, libcurl knows that before the
    // first request. Without TLS, it waits for the first answer, which may take forever.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, request->shares_connection ? 1L : 0L);
    if (code != CURLE_OK) return code;
    return curl_multi_add_handle(transfers->multi, easy) == CURLM_OK ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

void runloops_transfer_end(struct runloops_transfer *transfer, struct runloops_transfers *transfers) {
    curl_multi_remove_handle(transfers->multi, transfer->easy);
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(transfer->fields);
    transfer->fields = NULL;
}

int runloops_transfer_resume(struct runloops_transfer *transfer) { return curl_easy_pause(transfer->easy, CURLPAUSE_CONT); }

void runloops_transfer_forget_method(struct runloops_transfer *transfer) {
    curl_easy_setopt(transfer->easy, CURLOPT_CUSTOMREQUEST, NULL);
}

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

const char *runloops_transfer_url(struct runloops_transfer *transfer) {
    char *url = NULL;
    curl_easy_getinfo(transfer->easy, CURLINFO_EFFECTIVE_URL, &url);
    return url;
}

const char *runloops_transfer_words(struct runloops_transfer *transfer, int code) {
    return transfer->words[0] ? transfer->words : curl_easy_strerror(code);
}

enum runloops_result runloops_transfer_result(int code, bool is_redirected) {
    switch (code) {
    case CURLE_OK: return runloops_complete;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return is_redirected ? runloops_bad_redirect : runloops_bad_url;
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
    case CURLE_TOO_MANY_REDIRECTS: return runloops_too_many_redirects;
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
