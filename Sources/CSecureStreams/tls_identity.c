#define _GNU_SOURCE
#include "internal.h"

#include <openssl/pem.h>
#include <string.h>

void runloops_tls_prepare(void) {
    // Without this option, OpenSSL frees its memory when the program exits: other threads may still use that memory, or free it as
    // they end. OpenSSL takes the option only from the call that initializes it.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}

unsigned long runloops_tls_take_words(char words[runloops_tls_text]) {
    unsigned long code = ERR_peek_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    snprintf(words, runloops_tls_text, "%s", text ? text : "");
    ERR_clear_error();
    return code;
}

/// Gives OpenSSL a passphrase; -1 if there is none. Without this callback, OpenSSL would ask on the terminal.
static int give_passphrase(char *buffer, int size, int is_writing, void *passphrase) {
    (void)is_writing;
    if (passphrase == NULL || (int)strlen(passphrase) > size) return -1;
    memcpy(buffer, passphrase, strlen(passphrase));
    return (int)strlen(passphrase);
}

static BIO *reading(const void *bytes, size_t count) {
    return count > INT_MAX ? NULL : BIO_new_mem_buf(bytes, (int)count);
}

/// Reads the certificates of a PEM. Returns NULL if there is none, or one is broken.
static STACK_OF(X509) * certificates(const void *bytes, size_t count) {
    BIO *input = reading(bytes, count);
    STACK_OF(X509) *list = sk_X509_new_null();
    bool is_good = input && list;
    while (is_good) {
        X509 *certificate = PEM_read_bio_X509(input, NULL, give_passphrase, NULL);
        if (certificate == NULL) {
            // This is the end of the text, if at least one certificate was read.
            is_good = sk_X509_num(list) > 0 && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
            break;
        }
        if (sk_X509_push(list, certificate) == 0) {
            X509_free(certificate);
            is_good = false;
        }
    }
    BIO_free(input);
    if (!is_good) {
        sk_X509_pop_free(list, X509_free);
        return NULL;
    }
    ERR_clear_error();
    return list;
}

struct runloops_tls_identity *runloops_tls_identity(
    const void *bytes, size_t count, const void *key, size_t key_count, const char *passphrase,
    enum runloops_tls_problem *problem, char words[runloops_tls_text]) {
    runloops_tls_prepare();
    ERR_clear_error();
    *problem = runloops_tls_no_memory;
    struct runloops_tls_identity *identity = calloc(1, sizeof *identity);
    if (identity == NULL) return NULL;
    identity->chain = certificates(bytes, count);
    if (identity->chain == NULL) {
        *problem = runloops_tls_no_certificate;
        goto failed;
    }
    identity->certificate = sk_X509_shift(identity->chain);
    BIO *input = reading(key, key_count);
    if (input == NULL) goto failed;
    identity->key = PEM_read_bio_PrivateKey(input, NULL, give_passphrase, (void *)passphrase);
    BIO_free(input);
    if (identity->key == NULL) {

        // The first line of an encrypted key says that it is encrypted.
        bool is_encrypted = memmem(key, key_count, "ENCRYPTED", 9) != NULL;
        *problem = is_encrypted ? runloops_tls_wrong_passphrase : runloops_tls_no_key;
        goto failed;
    }
    if (X509_check_private_key(identity->certificate, identity->key) != 1) {
        *problem = runloops_tls_mismatch;
        goto failed;
    }
    *problem = runloops_tls_no_problem;
    return identity;
failed:
    runloops_tls_take_words(words);
    runloops_tls_free_identity(identity);
    return NULL;
}

void runloops_tls_free_identity(struct runloops_tls_identity *identity) {
    if (identity == NULL) return;
    X509_free(identity->certificate);
    EVP_PKEY_free(identity->key);
    sk_X509_pop_free(identity->chain, X509_free);
    free(identity);
}

struct runloops_tls_trust *runloops_tls_trust(
    const void *bytes, size_t count, enum runloops_tls_problem *problem, char words[runloops_tls_text]) {
    runloops_tls_prepare();
    ERR_clear_error();
    STACK_OF(X509) *list = certificates(bytes, count);
    if (list == NULL) {
        *problem = runloops_tls_no_certificate;
        runloops_tls_take_words(words);
        return NULL;
    }
    struct runloops_tls_trust *trust = calloc(1, sizeof *trust);
    bool is_good = trust && (trust->store = X509_STORE_new());
    for (int index = 0; is_good && index < sk_X509_num(list); index++)
        is_good = X509_STORE_add_cert(trust->store, sk_X509_value(list, index)) == 1;
    sk_X509_pop_free(list, X509_free);
    if (is_good) {
        *problem = runloops_tls_no_problem;
        return trust;
    }
    *problem = runloops_tls_no_memory;
    runloops_tls_take_words(words);
    runloops_tls_free_trust(trust);
    return NULL;
}

void runloops_tls_free_trust(struct runloops_tls_trust *trust) {
    if (trust == NULL) return;
    X509_STORE_free(trust->store);
    free(trust);
}
