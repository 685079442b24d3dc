#define _GNU_SOURCE
#include "internal.h"

#include <string.h>

// MARK: - Failures

static enum runloops_tls_cause cause_of_verification(long result) {
    switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return runloops_tls_expired;
    case X509_V_ERR_CERT_NOT_YET_VALID: return runloops_tls_not_yet_valid;
    case X509_V_ERR_CERT_REVOKED: return runloops_tls_revoked;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return runloops_tls_name_mismatch;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED: return runloops_tls_unknown_issuer;
    default: return runloops_tls_bad_certificate;
    }
}

static enum runloops_tls_cause cause_of_alert(int alert) {
    switch (alert) {
    case SSL_AD_CERTIFICATE_EXPIRED: return runloops_tls_expired;
    case SSL_AD_UNKNOWN_CA: return runloops_tls_unknown_issuer;
    case SSL_AD_CERTIFICATE_REVOKED: return runloops_tls_revoked;
    case SSL_AD_CERTIFICATE_REQUIRED:
    case SSL_AD_NO_CERTIFICATE: return runloops_tls_no_peer_certificate;
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN: return runloops_tls_bad_certificate;
    case SSL_AD_PROTOCOL_VERSION: return runloops_tls_version;
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_INSUFFICIENT_SECURITY: return runloops_tls_no_cipher;
    case SSL_AD_NO_APPLICATION_PROTOCOL: return runloops_tls_no_protocol;
    case SSL_AD_UNRECOGNIZED_NAME: return runloops_tls_unknown_name;
    default: return runloops_tls_other;
    }
}

static enum runloops_tls_cause cause_of_reason(int reason) {
    switch (reason) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return runloops_tls_no_peer_certificate;
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_VERSION_TOO_HIGH: return runloops_tls_version;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SHARED_GROUPS:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM: return runloops_tls_no_cipher;
    case SSL_R_NO_APPLICATION_PROTOCOL: return runloops_tls_no_protocol;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH: return runloops_tls_not_tls;
    default: return runloops_tls_other;
    }
}

struct runloops_tls_failure runloops_tls_failure(const struct runloops_tls_stream *stream) {
    struct runloops_tls_failure failure = {.cause = runloops_tls_other};
    int reason = ERR_GET_REASON(stream->failure);
    const char *words = ERR_reason_error_string(stream->failure);
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        long result = SSL_get_verify_result(stream->ssl);
        failure.cause = cause_of_verification(result);
        words = X509_verify_cert_error_string(result);
    } else if (reason == SSL_R_CALLBACK_FAILED || reason == SSL_R_TLSV1_UNRECOGNIZED_NAME) {
        // The only callback that refuses a hand-shake with this reason is that of the server's names.
        failure.cause = runloops_tls_unknown_name;
        failure.is_from_peer = reason == SSL_R_TLSV1_UNRECOGNIZED_NAME;
    } else if (reason >= SSL_AD_REASON_OFFSET) {
        failure.cause = cause_of_alert(reason - SSL_AD_REASON_OFFSET);
        failure.is_from_peer = true;
    } else {
        failure.cause = cause_of_reason(reason);
        if (stream->is_open && failure.cause == runloops_tls_not_tls) failure.cause = runloops_tls_other;
    }
    snprintf(failure.words, sizeof failure.words, "%s", words ? words : "");
    return failure;
}

// MARK: - Facts

bool runloops_tls_is_tls13(const struct runloops_tls_stream *stream) { return SSL_version(stream->ssl) == TLS1_3_VERSION; }

const char *runloops_tls_cipher(const struct runloops_tls_stream *stream) { return SSL_get_cipher_name(stream->ssl); }

const char *runloops_tls_server_name(const struct runloops_tls_stream *stream) {
    return SSL_get_servername(stream->ssl, TLSEXT_NAMETYPE_host_name);
}

const void *runloops_tls_protocol(const struct runloops_tls_stream *stream, unsigned *count) {
    const unsigned char *protocol;
    SSL_get0_alpn_selected(stream->ssl, &protocol, count);
    return protocol;
}

bool runloops_tls_is_resumed(const struct runloops_tls_stream *stream) { return SSL_session_reused(stream->ssl) == 1; }

void *runloops_tls_peer_certificate(const struct runloops_tls_stream *stream, size_t *count) {
    X509 *certificate = SSL_get0_peer_certificate(stream->ssl);
    int length = certificate ? i2d_X509(certificate, NULL) : 0;
    unsigned char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes == NULL) return NULL;
    unsigned char *end = bytes;
    *count = (size_t)i2d_X509(certificate, &end);
    return bytes;
}

char *runloops_tls_common_name(const void *bytes, size_t count) {
    const unsigned char *start = bytes;
    X509 *certificate = d2i_X509(NULL, &start, (long)count);
    if (certificate == NULL) {
        ERR_clear_error();
        return NULL;
    }
    X509_NAME *subject = X509_get_subject_name(certificate);
    int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    unsigned char *text = NULL;
    char *name = NULL;
    if (index >= 0) {
        int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
        // A name with a zero byte would be taken for the shorter name before it, which can be the name of another subject.
        if (length >= 0 && memchr(text, 0, (size_t)length) == NULL) name = strndup((char *)text, (size_t)length);
        OPENSSL_free(text);
    }
    X509_free(certificate);
    return name;
}
