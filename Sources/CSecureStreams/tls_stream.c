#define _GNU_SOURCE
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

/// The number of unsent encrypted bytes at which no more bytes are encrypted until the kernel has accepted some: four records.
enum { enough = 65536 };

/// The maximum number of bytes that are received from the socket in one call: four records, each of 16,384 bytes and a little more.
enum { read_ahead = 66560 };

/// The maximum number of times that OpenSSL may take bytes in one call of this file's functions. A record takes two: its header,
/// and its body. So whatever a peer sends, and however OpenSSL loops over it, a call handles four records while receiving.
enum { takes_of_receipt = 8, takes_of_hand_shake = 16 };

// MARK: - The socket, as OpenSSL sees it

static int write_socket(BIO *bio, const char *bytes, int count) {
    struct runloops_tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (stream->start > 0 && stream->end + (size_t)count > stream->capacity) {
        memmove(stream->output, stream->output + stream->start, stream->end - stream->start);
        stream->end -= stream->start;
        stream->start = 0;
    }
    size_t needed = stream->end + (size_t)count;
    if (needed > stream->capacity) {
        // A record is 16,384 bytes and a little more.
        size_t capacity = needed <= 4096 ? 4096 : enough + 17408;
        if (capacity < needed) capacity = needed * 2;
        unsigned char *output = realloc(stream->output, capacity);
        if (output == NULL) return -1;
        stream->output = output;
        stream->capacity = capacity;
    }
    memcpy(stream->output + stream->end, bytes, (size_t)count);
    stream->end = needed;
    stream->has_sent = true;
    if (stream->is_receiving) stream->answers += (size_t)count;
    return count;
}

/// Receives bytes into the buffer, which is empty. Returns false if there are none.
static bool fill(struct runloops_tls_stream *stream) {
    // An idle stream keeps no buffer.
    if (stream->input == NULL) stream->input = malloc(read_ahead);
    long count = -1;
    do if (stream->input == NULL) errno = ENOMEM;
    else count = recv(stream->socket, stream->input, read_ahead, MSG_DONTWAIT);
    while (count == -1 && errno == EINTR);
    stream->taken = 0;
    stream->received = count > 0 ? (size_t)count : 0;
    if (count > 0) return true;
    if (count == 0) stream->is_at_end = true;
    else if (errno == EAGAIN) stream->is_dry = true;
    else stream->error = errno;
    free(stream->input);
    stream->input = NULL;
    return false;
}

// OpenSSL itself reads ahead only as far as it is told. With an empty buffer behind each record, it returns after each record that
// it has handled, instead of handling all that it has read.
static int read_socket(BIO *bio, char *bytes, int capacity) {
    struct runloops_tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (stream->socket < 0) return -1;
    if (stream->taken == stream->received && !fill(stream)) {
        if (stream->is_at_end && !stream->error) return 0;
        if (stream->is_dry) BIO_set_retry_read(bio);
        return -1;
    }
    if (stream->takes_left == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t count = stream->received - stream->taken;
    if (count > (size_t)capacity) count = (size_t)capacity;
    // OpenSSL acts on a message only when it is complete, so a message that is too long is refused before.
    size_t most = SSL_is_server(stream->ssl) && !stream->has_sent ? runloops_tls_hello_limit : runloops_tls_hand_shake_limit;
    if (!stream->is_open && stream->unproductive + count > most) {
        stream->is_excessive = true;
        return -1;
    }
    stream->takes_left -= 1;
    memcpy(bytes, stream->input + stream->taken, count);
    stream->taken += count;
    stream->unproductive += count;
    return (int)count;
}

static long control_socket(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    struct runloops_tls_stream *stream = BIO_get_data(bio);
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return stream->is_at_end;
    default: return 0;
    }
}

static BIO_METHOD *method;
static int place;

static void make_method(void) {
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "run loop stream");
    place = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    if (method == NULL) return;
    BIO_meth_set_write(method, write_socket);
    BIO_meth_set_read(method, read_socket);
    BIO_meth_set_ctrl(method, control_socket);
}

struct runloops_tls_stream *runloops_tls_stream_of(const SSL *ssl) { return SSL_get_ex_data(ssl, place); }

// MARK: - Beginning and end

struct runloops_tls_stream *runloops_tls_stream(struct runloops_tls_context *context) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_method);
    struct runloops_tls_stream *stream = calloc(1, sizeof *stream);
    BIO *bio = method ? BIO_new(method) : NULL;
    SSL *ssl = SSL_new(context->context);
    if (stream == NULL || bio == NULL || ssl == NULL || SSL_set_ex_data(ssl, place, stream) != 1) {
        free(stream);
        BIO_free(bio);
        SSL_free(ssl);
        return NULL;
    }
    stream->ssl = ssl;
    stream->socket = -1;
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    if (context->is_server) SSL_set_accept_state(ssl);
    else SSL_set_connect_state(ssl);
    return stream;
}

void runloops_tls_free_stream(struct runloops_tls_stream *stream) {
    if (stream == NULL) return;
    SSL_free(stream->ssl);
    SSL_SESSION_free(stream->session);
    free(stream->output);
    free(stream->input);
    free(stream);
}

bool runloops_tls_expect(struct runloops_tls_stream *stream, const char *name) {
    unsigned char address[16];
    ERR_clear_error();
    SSL_set_hostflags(stream->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(stream->ssl), name) == 1;
    if (*name == 0) return false;
    return SSL_set1_host(stream->ssl, name) == 1 && SSL_set_tlsext_host_name(stream->ssl, name) == 1;
}

void runloops_tls_offer_session(struct runloops_tls_stream *stream, void *session) { SSL_set_session(stream->ssl, session); }

int runloops_tls_keep_session(SSL *ssl, SSL_SESSION *session) {
    struct runloops_tls_stream *stream = runloops_tls_stream_of(ssl);
    if (stream == NULL || !SSL_SESSION_is_resumable(session)) return 0;
    SSL_SESSION_free(stream->session);
    stream->session = session;
    return 1;
}

void *runloops_tls_take_session(struct runloops_tls_stream *stream) {
    SSL_SESSION *session = stream->session;
    stream->session = NULL;
    return session;
}

void runloops_tls_free_session(void *session) { SSL_SESSION_free(session); }

bool runloops_tls_is_resumable(const void *session) { return SSL_SESSION_is_resumable(session) == 1; }

void runloops_tls_set_socket(struct runloops_tls_stream *stream, int socket) { stream->socket = socket; }

int runloops_tls_error(const struct runloops_tls_stream *stream) { return stream->error; }

// MARK: - Receiving

/// Returns the status for a result of OpenSSL.
static enum runloops_tls_status status(struct runloops_tls_stream *stream, int result) {
    switch (SSL_get_error(stream->ssl, result)) {
    case SSL_ERROR_ZERO_RETURN: return runloops_tls_ended;
    case SSL_ERROR_WANT_READ: return stream->is_dry ? runloops_tls_waits : runloops_tls_goes_on;
    default: break;
    }
    if (stream->is_excessive) return runloops_tls_unproductive;
    if (stream->error != 0) return runloops_tls_broken;
    if (stream->is_at_end && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return runloops_tls_truncated;
    stream->failure = ERR_peek_error();
    return runloops_tls_failed;
}

enum runloops_tls_status runloops_tls_shake_hands(struct runloops_tls_stream *stream) {
    ERR_clear_error();
    stream->is_dry = false;
    stream->takes_left = takes_of_hand_shake;
    int result = SSL_do_handshake(stream->ssl);
    stream->is_open = result == 1;
    if (!stream->is_open) return status(stream, result);
    stream->unproductive = 0;
    return runloops_tls_done;
}

static enum runloops_tls_status receive(
    struct runloops_tls_stream *stream, void *bytes, size_t capacity, size_t *count) {
    while (*count < capacity) {
        // While more records wait, OpenSSL keeps its buffer, instead of freeing it after each record.
        if (stream->taken < stream->received) SSL_clear_mode(stream->ssl, SSL_MODE_RELEASE_BUFFERS);
        else SSL_set_mode(stream->ssl, SSL_MODE_RELEASE_BUFFERS);
        size_t read;
        int result = SSL_read_ex(stream->ssl, (char *)bytes + *count, capacity - *count, &read);
        if (result == 1) {
            *count += read;
            stream->unproductive = 0;
            continue;
        }
        enum runloops_tls_status outcome = status(stream, result);
        if (outcome != runloops_tls_waits && outcome != runloops_tls_goes_on) return outcome;
        if (stream->unproductive > runloops_tls_unproductive_limit) return runloops_tls_unproductive;
        if (stream->answers > runloops_tls_answer_limit) return runloops_tls_unread;
        return outcome;
    }
    return runloops_tls_done;
}

enum runloops_tls_status runloops_tls_receive(
    struct runloops_tls_stream *stream, void *bytes, size_t capacity, size_t *count) {
    ERR_clear_error();
    *count = 0;
    stream->is_dry = false;
    stream->takes_left = takes_of_receipt;
    stream->is_receiving = true;
    enum runloops_tls_status outcome = receive(stream, bytes, capacity, count);
    stream->is_receiving = false;
    SSL_set_mode(stream->ssl, SSL_MODE_RELEASE_BUFFERS);
    return outcome;
}

bool runloops_tls_has_pending(const struct runloops_tls_stream *stream) {
    return stream->taken < stream->received || SSL_has_pending(stream->ssl) == 1;
}

// MARK: - Sending

size_t runloops_tls_unsent(const struct runloops_tls_stream *stream) { return stream->end - stream->start; }

size_t runloops_tls_send(struct runloops_tls_stream *stream, const void *bytes, size_t count) {
    ERR_clear_error();
    size_t sent = 0;
    while (sent < count && runloops_tls_unsent(stream) < enough) {
        size_t written;
        if (SSL_write_ex(stream->ssl, (const char *)bytes + sent, count - sent, &written) != 1) break;
        sent += written;
    }
    return sent;
}

long runloops_tls_flush(struct runloops_tls_stream *stream) {
    size_t count = runloops_tls_unsent(stream);
    if (count == 0) return 0;
    long sent;
    do sent = send(stream->socket, stream->output + stream->start, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent == -1 && errno == EINTR);
    if (sent == -1) return errno == EAGAIN ? 0 : -1;
    stream->start += (size_t)sent;
    if (stream->start == stream->end) {
        stream->start = stream->end = 0;
        // An idle stream keeps no buffer.
        free(stream->output);
        stream->output = NULL;
        stream->capacity = 0;
        stream->answers = 0;
        if (stream->ends) shutdown(stream->socket, SHUT_WR);
    }
    return sent;
}

void runloops_tls_discard(struct runloops_tls_stream *stream) { stream->start = stream->end = stream->answers = 0; }

void runloops_tls_end(struct runloops_tls_stream *stream) {
    ERR_clear_error();
    stream->ends = true;
    if (SSL_is_init_finished(stream->ssl)) SSL_shutdown(stream->ssl);
    if (runloops_tls_unsent(stream) == 0) shutdown(stream->socket, SHUT_WR);
}

void runloops_tls_drain(int socket) {
    shutdown(socket, SHUT_WR);
    char bytes[4096];
    // Only bytes that have arrived by now are discarded; a peer that continues to send gets a reset.
    for (int rounds = 0; rounds < 64; rounds++)
        if (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) <= 0) return;
}
