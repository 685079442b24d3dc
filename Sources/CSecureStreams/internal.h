#pragma once

#include "secure_streams.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct runloops_tls_identity {
    X509 *certificate;
    EVP_PKEY *key;
    STACK_OF(X509) * chain;
};

struct runloops_tls_trust {
    X509_STORE *store;
};

struct named_context {
    char *name;
    SSL_CTX *context;
};

struct runloops_tls_context {
    SSL_CTX *context;
    bool is_server;
    bool refuses_names;
    /// For the server, the protocols that it speaks, in the order of its preference.
    unsigned char *protocols;
    size_t protocols_count;
    /// The settings that contexts of further names are made with.
    struct runloops_tls_settings settings;
    struct named_context *names;
    size_t names_count;
};

struct runloops_tls_stream {
    SSL *ssl;
    int socket;
    /// The encrypted bytes that the kernel has not accepted, from `start` to `end`, in a buffer of `capacity` bytes.
    unsigned char *output;
    size_t start, end, capacity;
    /// The number of bytes in the output that OpenSSL has added while it received: answers to the peer's records. It is 0 again when
    /// all of the output was sent.
    size_t answers;
    /// The bytes that were received and that OpenSSL has not taken, from `taken` to `received`; NULL if there are none.
    unsigned char *input;
    size_t taken, received;
    /// The number of bytes that OpenSSL has taken since it last returned data.
    size_t unproductive;
    /// The number of times that OpenSSL may still take bytes in this call.
    unsigned takes_left;
    /// True if the kernel had no more bytes during this call.
    bool is_dry;
    /// True while OpenSSL receives.
    bool is_receiving;
    /// True once this side has sent something.
    bool has_sent;
    /// True if the peer has sent more bytes than a hand-shake takes.
    bool is_excessive;
    /// True once the hand-shake is done.
    bool is_open;
    /// True once this side has ended its stream: sending on the socket ends when all encrypted bytes were sent.
    bool ends;
    /// True once reading the socket has reached the end of the peer's stream.
    bool is_at_end;
    /// The errno with which reading the socket has failed; 0 for none.
    int error;
    /// The first error of OpenSSL that ended the stream; 0 for none.
    unsigned long failure;
    /// The latest session that was not taken, which the stream owns; NULL if there is none.
    SSL_SESSION *session;
};

/// Initializes OpenSSL. Call this before the first call to OpenSSL that can initialize it.
void runloops_tls_prepare(void);

/// Returns the stream that an SSL belongs to.
struct runloops_tls_stream *runloops_tls_stream_of(const SSL *ssl);

/// Keeps a new session of a client. A callback of OpenSSL.
int runloops_tls_keep_session(SSL *ssl, SSL_SESSION *session);

/// Copies the text of OpenSSL's first error, and clears OpenSSL's errors. Returns the error.
unsigned long runloops_tls_take_words(char words[runloops_tls_text]);
