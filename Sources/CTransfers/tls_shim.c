#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "transfers_private.h"

// OpenSSL's functions are looked up at run time, because the program does not link to OpenSSL for libcurl's sake, and some builds of
// libcurl use another library.
static struct {
    void *(*method_new)(int, const char *);
    int (*method_index)(void);
    int (*method_read)(void *, int (*)(void *, char *, int));
    int (*method_control)(void *, long (*)(void *, int, long, void *));
    int (*method_type)(const void *);
    void *(*new)(const void *);
    int (*retain)(void *);
    void *(*push)(void *, void *);
    void *(*next)(void *);
    int (*read)(void *, void *, int);
    long (*control)(void *, int, long, void *);
    void (*set_init)(void *, int);
    void (*set_flags)(void *, int);
    void (*clear_flags)(void *, int);
    int (*test_flags)(const void *, int);
    void *(*reader)(const void *);
    void (*set_reader)(void *, void *);
    void (*set_shutdown)(void *, int);
    void (*agreed)(const void *, const unsigned char **, unsigned *);
    void (*set_info)(void *, void (*)(const void *, int, int));
    void (*set_message)(void *, void (*)(int, int, int, const void *, size_t, void *, void *));
} openssl;

/// The kind of the objects through which OpenSSL reads from the network; NULL if OpenSSL cannot be used.
static void *meter;
static int meter_type;

/// What the present call of libcurl may still read on this thread, in steps: one for each read, and one for each `step_size` bytes.
///
/// libcurl, nghttp2 and OpenSSL go on reading as long as there is something to read, and much of it reaches no callback: new keys,
/// tickets, frames without bytes of a body. When nothing is left, they are told that there is nothing to read for now. The loop finds
/// the descriptor readable again, after others have had their turn.
static __thread long steps_left;
enum { steps_of_call = 256, step_size = 256, steps_of_message = 8 };

/// The TLS connections of this thread that have got TLS's closing notice since libcurl was last called; the latest ones.
static __thread const void *closed[64];
static __thread size_t closed_count;

void runloops_tls_forget_closed(void) { closed_count = 0; }

void runloops_tls_allow_reading(void) { steps_left = steps_of_call; }

static int read_metered(void *object, char *bytes, int capacity) {
    const int RETRY_FLAGS = 0x0f, READ_AND_RETRY = 0x09;
    openssl.clear_flags(object, RETRY_FLAGS);
    if (steps_left <= 0) {
        openssl.set_flags(object, READ_AND_RETRY);
        return -1;
    }
    void *next = openssl.next(object);
    int count = openssl.read(next, bytes, capacity);
    openssl.set_flags(object, openssl.test_flags(next, RETRY_FLAGS));
    steps_left -= 1 + (count > 0 ? count / step_size : 0);
    return count;
}

static long control_next(void *object, int command, long number, void *pointer) {
    void *next = openssl.next(object);
    return next ? openssl.control(next, command, number, pointer) : 0;
}

/// Makes a TLS connection read through a meter.
static void add_meter(void *tls) {
    void *reader = openssl.reader(tls);
    // A renegotiation begins with a hand-shake, too.
    if (reader == NULL || openssl.method_type(reader) == meter_type) return;
    void *metered = openssl.new(meter);
    if (metered == NULL) return;
    openssl.set_init(metered, 1);
    // The connection releases the reader that it had.
    openssl.retain(reader);
    openssl.set_reader(tls, openssl.push(metered, reader));
}

static void note_event(const void *tls, int event, int value) {
    const int SSL_CB_HANDSHAKE_START = 0x10, SSL_CB_READ_ALERT = 0x4004, SSL_AD_CLOSE_NOTIFY = 0;
    if (event == SSL_CB_HANDSHAKE_START) add_meter((void *)tls);
    if (event == SSL_CB_READ_ALERT && (value & 0xff) == SSL_AD_CLOSE_NOTIFY) {
        closed[closed_count++ % (sizeof closed / sizeof closed[0])] = tls;
    }
}

/// Counts a message of TLS itself. Many fit into one record, which is read at once, so too many of them end the connection.
static void note_message(int is_sent, int version, int type, const void *bytes, size_t count, void *tls, void *unused) {
    (void)version, (void)bytes, (void)count, (void)unused;
    const int SSL3_RT_HANDSHAKE = 22, SSL_RECEIVED_SHUTDOWN = 2;
    if (is_sent || type != SSL3_RT_HANDSHAKE) return;
    steps_left -= steps_of_message;
    if (steps_left < -(steps_of_call * steps_of_message)) openssl.set_shutdown(tls, SSL_RECEIVED_SHUTDOWN);
}

/// Looks up a function; returns false if there is none.
static bool find(void *function, const char *name) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void prepare(void) {
    const int BIO_TYPE_FILTER = 0x200;
    // The functions are used only with OpenSSL 3, in which they have these types.
    const char *name = curl_version_info(CURLVERSION_NOW)->ssl_version;
    if (name == NULL || strncmp(name, "OpenSSL/3", strlen("OpenSSL/3")) != 0) return;
    bool has_all = find(&openssl.method_new, "BIO_meth_new") && find(&openssl.method_index, "BIO_get_new_index")
        && find(&openssl.method_read, "BIO_meth_set_read") && find(&openssl.method_control, "BIO_meth_set_ctrl")
        && find(&openssl.method_type, "BIO_method_type") && find(&openssl.new, "BIO_new")
        && find(&openssl.retain, "BIO_up_ref") && find(&openssl.push, "BIO_push")
        && find(&openssl.next, "BIO_next") && find(&openssl.read, "BIO_read") && find(&openssl.control, "BIO_ctrl")
        && find(&openssl.set_init, "BIO_set_init") && find(&openssl.set_flags, "BIO_set_flags")
        && find(&openssl.clear_flags, "BIO_clear_flags") && find(&openssl.test_flags, "BIO_test_flags")
        && find(&openssl.reader, "SSL_get_rbio") && find(&openssl.set_reader, "SSL_set0_rbio")
        && find(&openssl.set_shutdown, "SSL_set_shutdown") && find(&openssl.agreed, "SSL_get0_alpn_selected")
        && find(&openssl.set_info, "SSL_CTX_set_info_callback") && find(&openssl.set_message, "SSL_CTX_set_msg_callback");
    if (!has_all) return;
    meter_type = openssl.method_index() | BIO_TYPE_FILTER;
    void *method = openssl.method_new(meter_type, "meter");
    if (method == NULL) return;
    openssl.method_read(method, read_metered);
    openssl.method_control(method, control_next);
    meter = method;
}

static bool has_openssl(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    return meter != NULL;
}

/// Makes OpenSSL say when the peer sends TLS's closing notice, and limits what it reads in one call. libcurl takes a connection that
/// ends without the notice for one that ends with it, so a body that ends with its connection may have been cut by anyone on the path.
static CURLcode set_up_openssl(CURL *easy, void *context, void *unused) {
    (void)easy, (void)unused;
    openssl.set_info(context, note_event);
    openssl.set_message(context, note_message);
    return CURLE_OK;
}

void runloops_tls_set_up(CURL *easy) {
    if (!has_openssl()) return;
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_up_openssl);
    // Without the key exchange in which the server chooses a prime of any length, and the client computes with it.
    const char *ciphers = "DEFAULT:!kDHE:!kDHEPSK";
    curl_easy_setopt(easy, CURLOPT_SSL_CIPHER_LIST, ciphers);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_CIPHER_LIST, ciphers);
}

enum runloops_spoken runloops_tls_spoken(const void *tls) {
    if (tls == NULL) return runloops_speaks_http1;
    if (!has_openssl()) return runloops_speaks_unknown;
    const unsigned char *name = NULL;
    unsigned count = 0;
    openssl.agreed(tls, &name, &count);
    return count == 2 && memcmp(name, "h2", 2) == 0 ? runloops_speaks_http2 : runloops_speaks_http1;
}

bool runloops_transfer_was_cut(struct runloops_transfer *transfer) {
    if (transfer->tls == NULL || !has_openssl()) return false;
    size_t count = sizeof closed / sizeof closed[0];
    for (size_t index = 0; index < closed_count && index < count; index += 1) {
        if (closed[index] == transfer->tls) return false;
    }
    return true;
}
