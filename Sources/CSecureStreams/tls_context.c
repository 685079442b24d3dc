#define _GNU_SOURCE
#include "internal.h"

#include <string.h>

/// Chooses the identity of a server for the name that a client asks for. A callback of OpenSSL.
static int choose_name(SSL *ssl, int *alert, void *argument) {
    struct runloops_tls_context *context = argument;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name == NULL) return SSL_TLSEXT_ERR_NOACK;
    const char *domain = strchr(name, '.');
    struct named_context *found = NULL;
    for (size_t index = 0; index < context->names_count; index++) {
        struct named_context *entry = &context->names[index];
        if (strcasecmp(entry->name, name) == 0) {
            found = entry;
            break;
        }
        // A star stands for one label.
        if (strncmp(entry->name, "*.", 2) == 0 && domain && strcasecmp(entry->name + 1, domain) == 0) found = entry;
    }
    if (found) {
        SSL_set_SSL_CTX(ssl, found->context);
        return SSL_TLSEXT_ERR_OK;
    }
    if (!context->refuses_names) return SSL_TLSEXT_ERR_OK;
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Chooses the first of the server's protocols that the client speaks. A callback of OpenSSL.
static int choose_protocol(
    SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned count,
    void *argument) {
    (void)ssl;
    struct runloops_tls_context *context = argument;
    int result = SSL_select_next_proto(
        (unsigned char **)chosen, length, context->protocols, (unsigned)context->protocols_count, offered, count);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool set_identity(SSL_CTX *context, const struct runloops_tls_identity *identity) {
    return SSL_CTX_use_cert_and_key(context, identity->certificate, identity->key, identity->chain, 1) == 1;
}

/// Makes a server list the issuers that it trusts, so that a client can choose its certificate.
static bool name_issuers(SSL_CTX *context, X509_STORE *store) {
    STACK_OF(X509) *issuers = X509_STORE_get1_all_certs(store);
    bool is_good = issuers != NULL;
    for (int index = 0; is_good && index < sk_X509_num(issuers); index++)
        is_good = SSL_CTX_add_client_CA(context, sk_X509_value(issuers, index)) == 1;
    sk_X509_pop_free(issuers, X509_free);
    return is_good;
}

static SSL_CTX *make(struct runloops_tls_context *owner, enum runloops_tls_problem *problem) {
    const struct runloops_tls_settings *settings = &owner->settings;
    *problem = runloops_tls_no_memory;
    SSL_CTX *context = SSL_CTX_new(settings->is_server ? TLS_server_method() : TLS_client_method());
    if (context == NULL) return NULL;
    // Level 2 requires 112 bits of security: RSA keys of at least 2,048 bits, and no SHA-1 in signatures.
    if (SSL_CTX_get_security_level(context) < 2) SSL_CTX_set_security_level(context, 2);
    SSL_CTX_set_min_proto_version(context, settings->takes_tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(context, settings->takes_tls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
    // A peer chooses among the groups for the exchange of keys: with the large groups of DHE, one hello takes 100 ms, and a server's
    // own group any time. A chain of a peer has no reason to be longer.
    SSL_CTX_set_max_cert_list(context, 32768);
    SSL_CTX_set_verify_depth(context, 10);
    if (SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") != 1
        || SSL_CTX_set_cipher_list(context, "DEFAULT:!kDHE:!kDHEPSK") != 1)
        goto failed;
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_clear_options(context, SSL_OP_LEGACY_SERVER_CONNECT);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    // OpenSSL returns after each record without data; otherwise it would handle such records for as long as they come.
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_timeout(context, settings->session_seconds);
    if (settings->identity && !set_identity(context, settings->identity)) {
        *problem = runloops_tls_weak;
        goto failed;
    }
    bool is_verifying = !settings->is_server || settings->asking != runloops_tls_asks_not;
    if (is_verifying) {
        if (settings->trust) {
            SSL_CTX_set1_cert_store(context, settings->trust->store);
            if (settings->is_server && !name_issuers(context, settings->trust->store)) goto failed;
        } else if (SSL_CTX_set_default_verify_paths(context) != 1) {
            goto failed;
        }
        int mode = SSL_VERIFY_PEER;
        if (settings->asking == runloops_tls_requires) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
        SSL_CTX_set_verify(context, mode, NULL);
    }
    if (settings->is_server) {
        // All state of a session is in its ticket, so sessions cost a server no memory.
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        static const unsigned char name[] = "run loops";
        SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
        SSL_CTX_set_num_tickets(context, settings->tickets);
        if (settings->tickets == 0) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        if (owner->protocols_count) SSL_CTX_set_alpn_select_cb(context, choose_protocol, owner);
        SSL_CTX_set_tlsext_servername_callback(context, choose_name);
        SSL_CTX_set_tlsext_servername_arg(context, owner);
    } else {
        // SSL_CTX_set_alpn_protos returns 0 for success.
        if (owner->protocols_count
            && SSL_CTX_set_alpn_protos(context, owner->protocols, (unsigned)owner->protocols_count) != 0) {
            *problem = runloops_tls_bad_setting;
            goto failed;
        }
        SSL_CTX_set_session_cache_mode(
            context, settings->tickets ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
        SSL_CTX_sess_set_new_cb(context, runloops_tls_keep_session);
    }
    *problem = runloops_tls_no_problem;
    return context;
failed:
    SSL_CTX_free(context);
    return NULL;
}

struct runloops_tls_context *runloops_tls_context(
    struct runloops_tls_settings settings, enum runloops_tls_problem *problem, char words[runloops_tls_text]) {
    runloops_tls_prepare();
    ERR_clear_error();
    words[0] = 0;
    *problem = runloops_tls_no_memory;
    struct runloops_tls_context *context = calloc(1, sizeof *context);
    if (context == NULL) return NULL;
    context->is_server = settings.is_server;
    context->refuses_names = settings.refuses_names;
    context->settings = settings;
    if (settings.protocols_count) {
        context->protocols = malloc(settings.protocols_count);
        if (context->protocols) memcpy(context->protocols, settings.protocols, settings.protocols_count);
        context->protocols_count = context->protocols ? settings.protocols_count : 0;
    }
    if (context->protocols_count == settings.protocols_count) context->context = make(context, problem);
    if (context->context == NULL) {
        runloops_tls_take_words(words);
        runloops_tls_free_context(context);
        return NULL;
    }
    return context;
}

bool runloops_tls_add_name(
    struct runloops_tls_context *context, const char *name, const struct runloops_tls_identity *identity,
    enum runloops_tls_problem *problem, char words[runloops_tls_text]) {
    ERR_clear_error();
    words[0] = 0;
    *problem = runloops_tls_no_memory;
    struct named_context *names = realloc(context->names, (context->names_count + 1) * sizeof *names);
    if (names == NULL) return false;
    context->names = names;
    context->settings.identity = identity;
    struct named_context entry = {.name = strdup(name), .context = make(context, problem)};
    if (entry.name == NULL || entry.context == NULL) {
        runloops_tls_take_words(words);
        free(entry.name);
        SSL_CTX_free(entry.context);
        return false;
    }
    names[context->names_count++] = entry;
    return true;
}

void runloops_tls_free_context(struct runloops_tls_context *context) {
    if (context == NULL) return;
    for (size_t index = 0; index < context->names_count; index++) {
        free(context->names[index].name);
        SSL_CTX_free(context->names[index].context);
    }
    free(context->names);
    SSL_CTX_free(context->context);
    free(context->protocols);
    free(context);
}
