#define CURL_DISABLE_TYPECHECK
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfers_private.h"

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

/// Decides about sending the request. libcurl has no option against sending it again.
static int before_request(void *context, char *peer, char *own, int peer_port, int own_port) {
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    struct runloops_transfer *transfer = context;
    struct curl_tlssessioninfo *session = NULL;
    curl_easy_getinfo(transfer->easy, CURLINFO_TLS_SSL_PTR, &session);
    transfer->tls = session ? session->internals : NULL;
    transfer->spoken = session ? runloops_tls_spoken(session->internals) : runloops_speaks_http1;
    transfer->requests += 1;
    if (transfer->requests == 1 || transfer->callbacks.repeat(transfer->context)) return CURL_PREREQFUNC_OK;
    return CURL_PREREQFUNC_ABORT;
}

/// Keeps libcurl from resolving a name, for which it would start a thread.
static int before_resolving(void *resolver, void *unused, void *context) {
    (void)resolver, (void)unused;
    struct runloops_transfer *transfer = context;
    if (transfer->numeric_names > 0) {
        transfer->numeric_names -= 1;
        return 0;
    }
    transfer->was_refused = true;
    return 1;
}

/// Sets the options that are the same for all transfers of all clients.
static bool set_constants(struct runloops_transfer *transfer) {
    CURL *easy = transfer->easy;
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
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, before_resolving);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, transfer);
    curl_easy_setopt(easy, CURLOPT_SHARE, transfer->transfers->sessions);
    // Without this, libcurl changes the disposition of SIGPIPE for the whole process during each call.
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    // libcurl tolerates broken chunks and broken compression, and decompresses without a bound. Both are decoded by the client.
    curl_easy_setopt(easy, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    runloops_tls_set_up(easy);
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS) == CURLE_OK;
#endif
}

/// Sets an option to a text, which is not copied: the settings exist longer than the handle.
static bool set_text(CURL *easy, CURLoption option, struct runloops_text text) {
    struct curl_blob blob = {(void *)text.bytes, text.count, CURL_BLOB_NOCOPY};
    return curl_easy_setopt(easy, option, &blob) == CURLE_OK;
}

static bool set_settings(CURL *easy, const struct runloops_settings *settings) {
    long version = CURL_HTTP_VERSION_2TLS;
    if (settings->versions == runloops_http1) version = CURL_HTTP_VERSION_1_1;
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
    bool is_set = true;
    if (settings->proxy) is_set &= curl_easy_setopt(easy, CURLOPT_PROXY, settings->proxy) == CURLE_OK;
    if (settings->unix_path) {
        is_set &= curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, settings->unix_path) == CURLE_OK;
    }
    if (settings->is_compressed) {
        is_set &= curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate") == CURLE_OK;
    }
    if (settings->agent) is_set &= curl_easy_setopt(easy, CURLOPT_USERAGENT, settings->agent) == CURLE_OK;
    if (settings->trust.bytes) {
        is_set &= set_text(easy, CURLOPT_CAINFO_BLOB, settings->trust);
        is_set &= set_text(easy, CURLOPT_PROXY_CAINFO_BLOB, settings->trust);
        // Otherwise the system's directory of authorities would be trusted, too.
        is_set &= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
        is_set &= curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL) == CURLE_OK;
    }
    if (settings->certificate.bytes) is_set &= set_text(easy, CURLOPT_SSLCERT_BLOB, settings->certificate);
    if (settings->key.bytes) is_set &= set_text(easy, CURLOPT_SSLKEY_BLOB, settings->key);
    if (settings->passphrase) is_set &= curl_easy_setopt(easy, CURLOPT_KEYPASSWD, settings->passphrase) == CURLE_OK;
    return is_set;
}

struct runloops_transfer *runloops_transfer_new(
    struct runloops_transfers *transfers, const struct runloops_settings *settings,
    const struct runloops_callbacks *callbacks, void *context) {
    struct runloops_transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer == NULL) return NULL;
    transfer->transfers = transfers;
    transfer->callbacks = *callbacks;
    transfer->context = context;
    transfer->easy = curl_easy_init();
    if (transfer->easy && set_constants(transfer) && set_settings(transfer->easy, settings)) return transfer;
    runloops_transfer_free(transfer);
    return NULL;
}

void runloops_transfer_free(struct runloops_transfer *transfer) {
    if (transfer->is_added) curl_multi_remove_handle(transfer->transfers->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->fields);
    curl_slist_free_all(transfer->addresses);
    free(transfer);
}

static bool append(struct curl_slist **list, const char *line) {
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer) *list = longer;
    return longer != NULL;
}

bool runloops_transfer_add_field(struct runloops_transfer *transfer, const char *line) {
    return append(&transfer->fields, line);
}

static CURLcode set_body(CURL *easy, const struct runloops_request *request) {
    if (request->method == runloops_head) return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (request->method == runloops_post) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->count);
        if (request->body == runloops_given_body) return curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
        return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->bytes ? request->bytes : "");
    }
    if (request->body == runloops_no_body) return CURLE_OK;
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    return curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->count);
}

static CURLcode set_addresses(struct runloops_transfer *transfer, const struct runloops_request *request) {
    if (request->proxy_addresses && !append(&transfer->addresses, request->proxy_addresses)) return CURLE_OUT_OF_MEMORY;
    if (request->host_addresses && !append(&transfer->addresses, request->host_addresses)) return CURLE_OUT_OF_MEMORY;
    transfer->numeric_names = request->numeric_names;
    if (transfer->addresses == NULL) return CURLE_OK;
    return curl_easy_setopt(transfer->easy, CURLOPT_RESOLVE, transfer->addresses);
}

int runloops_transfer_begin(struct runloops_transfer *transfer, const struct runloops_request *request) {
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, request->connect_milliseconds);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request->milliseconds);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->fields);
    // Otherwise libcurl believes a status line that claims HTTP/2, and sends further requests while one is under way.
    if (!request->is_secure) curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    // With this option, a transfer waits until libcurl knows if a connection can be shared. With TLS, libcurl knows that before the
    // first request. Without TLS, it waits for the first answer, which may take forever.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, request->is_secure ? 1L : 0L);
    CURLcode code = set_body(easy, request);
    if (code == CURLE_OK && request->name) code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->name);
    if (code == CURLE_OK) code = set_addresses(transfer, request);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_URL, request->url);
    if (code != CURLE_OK) return code;
    transfer->is_added = curl_multi_add_handle(transfer->transfers->multi, easy) == CURLM_OK;
    return transfer->is_added ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}
