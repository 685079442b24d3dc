#pragma once

/// What a hostile peer of a TLS connection sends after the hand-shake. It never reads.
enum faults_tls_flood {
    /// A client's updates of its keys, which need no answer (TLS 1.3).
    faults_tls_key_updates,
    /// A client's updates of its keys, each of which asks for an answer, and a byte of data after each hundred (TLS 1.3).
    faults_tls_asked_key_updates,
    /// Line feeds of a client, each in a record of its own (TLS 1.3).
    faults_tls_small_records,
    /// A server's tickets (TLS 1.3).
    faults_tls_tickets,
    /// A server's requests for a new hand-shake (TLS 1.2).
    faults_tls_hello_requests,
};

/// Makes a hand-shake over a socket, and sends `count` records, until the other side has closed the socket. Blocks. A server
/// needs the paths of a certificate and a key. Returns the number of bytes sent after the hand-shake, or -1 if it has failed.
long faults_flood_tls(int socket, enum faults_tls_flood flood, long count, const char *certificate, const char *key);
