#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// TLS for streams, with OpenSSL 3. OpenSSL's options are macros, which Swift cannot use, and its own functions for sockets may
// raise SIGPIPE.

/// A certificate with its chain and its private key.
struct runloops_tls_identity;
/// Certificates that are trusted as issuers.
struct runloops_tls_trust;
/// The settings of many streams; safe to use from any thread once it is made.
struct runloops_tls_context;
/// One stream; for one thread at a time.
struct runloops_tls_stream;

/// The reason that an identity, trust or context cannot be made.
enum runloops_tls_problem {
    runloops_tls_no_problem,
    runloops_tls_no_certificate,
    runloops_tls_no_key,
    runloops_tls_wrong_passphrase,
    runloops_tls_mismatch,
    runloops_tls_weak,
    runloops_tls_bad_setting,
    runloops_tls_no_memory,
};

enum { runloops_tls_text = 256 };

/// Makes an identity from PEM: certificates, the first of which is its own, and a key. On failure, returns NULL, with the problem
/// and OpenSSL's text for it.
struct runloops_tls_identity *runloops_tls_identity(
    const void *certificates, size_t certificates_count, const void *key, size_t key_count, const char *passphrase,
    enum runloops_tls_problem *problem, char words[runloops_tls_text]);
void runloops_tls_free_identity(struct runloops_tls_identity *identity);

/// Makes a set of trusted certificates from PEM. On failure, returns NULL, with the problem.
struct runloops_tls_trust *runloops_tls_trust(
    const void *certificates, size_t count, enum runloops_tls_problem *problem, char words[runloops_tls_text]);
void runloops_tls_free_trust(struct runloops_tls_trust *trust);

enum runloops_tls_asking { runloops_tls_asks_not, runloops_tls_asks, runloops_tls_requires };

struct runloops_tls_settings {
    bool is_server;
    /// At least one of them is true.
    bool takes_tls12, takes_tls13;
    /// The identity; NULL for none.
    const struct runloops_tls_identity *identity;
    /// The trusted issuers; NULL for those of the system.
    const struct runloops_tls_trust *trust;
    /// The names of protocols, each after its length.
    const void *protocols;
    size_t protocols_count;
    /// For the server: the request for the client's certificate.
    enum runloops_tls_asking asking;
    /// For the server: true if it refuses a client that asks for a name that was not added.
    bool refuses_names;
    long session_seconds;
    /// For the server: the number of tickets that a client gets; for the client: 0 if no session is kept.
    size_t tickets;
};

/// Makes a context, which retains the objects that the settings name. On failure, returns NULL, with the problem.
struct runloops_tls_context *runloops_tls_context(
    struct runloops_tls_settings settings, enum runloops_tls_problem *problem, char words[runloops_tls_text]);

/// Adds an identity of a server for a name, which may begin with "*.". Not to be called after the first stream is made.
bool runloops_tls_add_name(
    struct runloops_tls_context *context, const char *name, const struct runloops_tls_identity *identity,
    enum runloops_tls_problem *problem, char words[runloops_tls_text]);

/// The context must outlive its streams.
void runloops_tls_free_context(struct runloops_tls_context *context);

/// Makes a stream, without a socket. Returns NULL if there is no memory.
struct runloops_tls_stream *runloops_tls_stream(struct runloops_tls_context *context);
void runloops_tls_free_stream(struct runloops_tls_stream *stream);

/// Sets the host name or numeric address that the server's certificate must have. The client also asks the server for a host name,
/// but not for a numeric address. Returns false if the text cannot be a name.
bool runloops_tls_expect(struct runloops_tls_stream *stream, const char *name);

/// Offers a session to resume.
void runloops_tls_offer_session(struct runloops_tls_stream *stream, void *session);
/// Takes the latest session that can be resumed, which the caller then owns; NULL if there was no new one since the last call.
void *runloops_tls_take_session(struct runloops_tls_stream *stream);
void runloops_tls_free_session(void *session);
bool runloops_tls_is_resumable(const void *session);

void runloops_tls_set_socket(struct runloops_tls_stream *stream, int socket);

enum runloops_tls_status {
    runloops_tls_done,
    /// The peer must send first.
    runloops_tls_waits,
    /// Enough records were handled in this call, and more have arrived.
    runloops_tls_goes_on,
    /// The peer has ended its stream with a notice.
    runloops_tls_ended,
    /// The socket has ended without a notice.
    runloops_tls_truncated,
    /// `runloops_tls_failure` returns the failure.
    runloops_tls_failed,
    /// `runloops_tls_error` is the errno.
    runloops_tls_broken,
    /// The peer has sent more than `runloops_tls_unproductive_limit` bytes of records without data, or more than a hand-shake takes.
    runloops_tls_unproductive,
    /// The peer has not read more than `runloops_tls_answer_limit` bytes of answers to its records.
    runloops_tls_unread,
};

/// The maximum number of bytes that a peer may send in a row without data, such as updates of keys, tickets and warnings. A record
/// that is not complete counts, too, and has at most 16,640 bytes.
enum { runloops_tls_unproductive_limit = 65536 };

/// The maximum number of bytes that a client's hello takes, and that a peer sends in a hand-shake in all. What OpenSSL spends on a
/// hello grows with the square of its length.
enum { runloops_tls_hello_limit = 16640, runloops_tls_hand_shake_limit = 131072 };

/// The maximum number of bytes of answers to the peer's records, such as alerts, that may wait to be sent.
enum { runloops_tls_answer_limit = 16384 };

/// Continues the hand-shake, for a few records. Bytes that are to be sent wait for `runloops_tls_flush`.
enum runloops_tls_status runloops_tls_shake_hands(struct runloops_tls_stream *stream);

/// Receives bytes until the buffer is full, no more are available, or a few records were handled. Sets `*count` to their number.
enum runloops_tls_status runloops_tls_receive(
    struct runloops_tls_stream *stream, void *bytes, size_t capacity, size_t *count);

/// True if records, or parts of one, were read from the socket and not yet received.
bool runloops_tls_has_pending(const struct runloops_tls_stream *stream);

/// Encrypts bytes. Returns the number of bytes that it has taken, which is less than `count` once enough encrypted bytes wait.
size_t runloops_tls_send(struct runloops_tls_stream *stream, const void *bytes, size_t count);

/// The number of encrypted bytes that the kernel has not accepted.
size_t runloops_tls_unsent(const struct runloops_tls_stream *stream);

/// Offers encrypted bytes to the kernel. Returns the number that it has accepted, or -1 with errno.
long runloops_tls_flush(struct runloops_tls_stream *stream);

/// Discards encrypted bytes that the kernel has not accepted.
void runloops_tls_discard(struct runloops_tls_stream *stream);

/// Adds the notice of the end to the bytes that are to be sent. Sending on the socket ends after the notice.
void runloops_tls_end(struct runloops_tls_stream *stream);

/// Ends sending on the socket, and discards bytes that have arrived, so that no alert is lost because the kernel resets the
/// connection.
void runloops_tls_drain(int socket);

int runloops_tls_error(const struct runloops_tls_stream *stream);

/// The causes of a failure, as Streams reports them.
enum runloops_tls_cause {
    runloops_tls_expired,
    runloops_tls_not_yet_valid,
    runloops_tls_unknown_issuer,
    runloops_tls_name_mismatch,
    runloops_tls_revoked,
    runloops_tls_no_peer_certificate,
    runloops_tls_bad_certificate,
    runloops_tls_version,
    runloops_tls_no_cipher,
    runloops_tls_no_protocol,
    runloops_tls_unknown_name,
    runloops_tls_not_tls,
    runloops_tls_other,
};

struct runloops_tls_failure {
    enum runloops_tls_cause cause;
    bool is_from_peer;
    char words[runloops_tls_text];
};

/// Returns the failure of a stream.
struct runloops_tls_failure runloops_tls_failure(const struct runloops_tls_stream *stream);

/// Facts of an open stream. Strings live as long as the stream, and may be NULL.
bool runloops_tls_is_tls13(const struct runloops_tls_stream *stream);
const char *runloops_tls_cipher(const struct runloops_tls_stream *stream);
const char *runloops_tls_server_name(const struct runloops_tls_stream *stream);
const void *runloops_tls_protocol(const struct runloops_tls_stream *stream, unsigned *count);
bool runloops_tls_is_resumed(const struct runloops_tls_stream *stream);

/// Returns the certificate of the peer in DER, to be freed with `free`; NULL if there is none.
void *runloops_tls_peer_certificate(const struct runloops_tls_stream *stream, size_t *count);

/// Returns the common name of a certificate in DER, to be freed with `free`; NULL if there is none, or if it
/// contains a zero byte.
char *runloops_tls_common_name(const void *certificate, size_t count);
