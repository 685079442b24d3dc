#define _GNU_SOURCE
#include "tls_peers.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "next.h"

// OpenSSL's functions are looked up, because not every program with this target links OpenSSL.
#define CALL(function) ((__typeof__(&function))dlsym(RTLD_DEFAULT, #function))

enum { most = 65536 };

static bool waits(int socket, short events) {
    struct pollfd entry = {.fd = socket, .events = events};
    return poll(&entry, 1, 60000) > 0;
}

static bool send_all(int socket, const char *bytes, long count, long *sent) {
    for (long at = 0; at < count;) {
        long result = send(socket, bytes + at, (size_t)(count - at), MSG_NOSIGNAL);
        if (result > 0) {
            at += result;
            *sent += result;
        } else if (errno != EAGAIN || !waits(socket, POLLOUT)) {
            return false;
        }
    }
    return true;
}

static bool shake_hands(int socket, SSL *ssl, BIO *in, BIO *out) {
    static __thread char bytes[most];
    long sent = 0;
    for (;;) {
        int result = CALL(SSL_do_handshake)(ssl);
        int count = CALL(BIO_read)(out, bytes, most);
        if (count > 0 && !send_all(socket, bytes, count, &sent)) return false;
        if (result == 1) return true;
        if (!waits(socket, POLLIN)) return false;
        long received = recv(socket, bytes, most, 0);
        if (received <= 0) return false;
        CALL(BIO_write)(in, bytes, (int)received);
    }
}

/// Makes the next records.
static void make(SSL *ssl, enum faults_tls_flood flood, long number) {
    switch (flood) {
    case faults_tls_key_updates: CALL(SSL_key_update)(ssl, SSL_KEY_UPDATE_NOT_REQUESTED); break;
    case faults_tls_asked_key_updates:
        // A byte of data among many updates, so that not only records without data come.
        if (number % 100 == 0) CALL(SSL_write)(ssl, "x", 1);
        CALL(SSL_key_update)(ssl, SSL_KEY_UPDATE_REQUESTED);
        break;
    case faults_tls_small_records: CALL(SSL_write)(ssl, "\n", 1); return;
    case faults_tls_tickets: CALL(SSL_new_session_ticket)(ssl); break;
    case faults_tls_hello_requests: CALL(SSL_renegotiate)(ssl); break;
    }
    CALL(SSL_do_handshake)(ssl);
}

long faults_flood_tls(int socket, enum faults_tls_flood flood, long count, const char *certificate, const char *key) {
    bool is_server = flood == faults_tls_tickets || flood == faults_tls_hello_requests;
    SSL_CTX *context = CALL(SSL_CTX_new)(is_server ? CALL(TLS_server_method)() : CALL(TLS_client_method)());
    bool is_old = flood == faults_tls_hello_requests;
    CALL(SSL_CTX_ctrl)(context, SSL_CTRL_SET_MIN_PROTO_VERSION, is_old ? TLS1_2_VERSION : TLS1_3_VERSION, NULL);
    CALL(SSL_CTX_ctrl)(context, SSL_CTRL_SET_MAX_PROTO_VERSION, is_old ? TLS1_2_VERSION : TLS1_3_VERSION, NULL);
    if (is_server) {
        CALL(SSL_CTX_use_certificate_file)(context, certificate, SSL_FILETYPE_PEM);
        CALL(SSL_CTX_use_PrivateKey_file)(context, key, SSL_FILETYPE_PEM);
    }
    SSL *ssl = CALL(SSL_new)(context);
    BIO *in = CALL(BIO_new)(CALL(BIO_s_mem)()), *out = CALL(BIO_new)(CALL(BIO_s_mem)());
    CALL(SSL_set_bio)(ssl, in, out);
    if (is_server) CALL(SSL_set_accept_state)(ssl);
    else CALL(SSL_set_connect_state)(ssl);
    long sent = -1;
    if (shake_hands(socket, ssl, in, out)) {
        sent = 0;
        char *bytes = malloc(most);
        for (long number = 0; number < count;) {
            for (int index = 0; index < 200 && number < count; index++) make(ssl, flood, number++);
            int made = CALL(BIO_read)(out, bytes, most);
            if (made > 0 && !send_all(socket, bytes, made, &sent)) break;
        }
        free(bytes);
    }
    CALL(SSL_free)(ssl);
    CALL(SSL_CTX_free)(context);
    return sent;
}
