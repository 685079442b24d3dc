#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The parts of libcurl's transfers that the client needs. libcurl's functions that set options are variadic, and Swift cannot call
// variadic functions.

/// The transfers of one client: a multi handle.
struct runloops_transfers;
/// One transfer: an easy handle, with the parts of its request that it must keep.
struct runloops_transfer;

/// Called when libcurl wants a descriptor watched or, if both Booleans are false, no longer watched.
typedef void (*runloops_watch)(int descriptor, bool read, bool write, void *context);
/// Called with the milliseconds to libcurl's next deadline; -1 for none.
typedef void (*runloops_alarm)(long milliseconds, void *context);
/// Called with a line of a header, with its line break. Returns false to end the transfer.
typedef bool (*runloops_take_header)(const void *bytes, size_t count, void *context);

enum runloops_taking { runloops_taken, runloops_hold, runloops_refused };
/// Called with bytes of the body. The result says that the function has taken them all, that libcurl is to hold them back until the
/// transfer is resumed, or that they are refused, which ends the transfer.
typedef enum runloops_taking (*runloops_take_body)(const void *bytes, size_t count, void *context);

enum { runloops_read_wait = -1, runloops_read_failed = -2 };
/// Called to get bytes of the request's body. Returns their number, 0 at the end, or one of the values above.
typedef long (*runloops_give_body)(void *bytes, size_t capacity, void *context);
/// Called to go back to the beginning of the request's body. Returns false if that is not possible.
typedef bool (*runloops_rewind)(void *context);
/// Called before libcurl sends a request again, on its own, because the connection has ended. Returns false to end the transfer.
typedef bool (*runloops_repeat)(void *context);

struct runloops_callbacks {
    runloops_take_header header;
    runloops_take_body body;
    runloops_give_body give;
    runloops_rewind rewind;
    runloops_repeat repeat;
};

enum runloops_method { runloops_get, runloops_head, runloops_post, runloops_put, runloops_other_method };
enum runloops_body { runloops_no_body, runloops_copied_body, runloops_given_body };
enum runloops_versions { runloops_automatic_version, runloops_http1 };

/// Bytes that are no C string.
struct runloops_text {
    const void *bytes;
    size_t count;
};

/// The settings of all transfers of a client. Strings may be NULL. They must exist as long as a transfer uses them.
struct runloops_settings {
    /// True to offer the codings that the inflater decodes.
    bool is_compressed;
    enum runloops_versions versions;
    /// NULL for the proxy that the environment names, "" for none.
    const char *proxy;
    /// The path of the Unix socket to which all connections are made; NULL for none.
    const char *unix_path;
    const char *agent;
    /// Text in PEM, with `bytes` of NULL for none: the trusted issuers, the certificate of the client, and its key.
    struct runloops_text trust, certificate, key;
    const char *passphrase;
};

/// The settings that differ from request to request. Strings are copied.
struct runloops_request {
    const char *url;
    enum runloops_method method;
    /// The name of the method, if it is another one; otherwise NULL.
    const char *name;
    /// The addresses of the host and of the proxy, as `HOST:PORT:ADDRESS,...`; NULL for those that libcurl has not asked for.
    const char *host_addresses;
    const char *proxy_addresses;
    /// The number of names that libcurl may ask for, because they are numeric addresses, which need no thread.
    int numeric_names;
    enum runloops_body body;
    /// The bytes of a copied body.
    const void *bytes;
    /// The number of bytes of the body; -1 if it is not known.
    int64_t count;
    long connect_milliseconds;
    /// 0 for no limit.
    long milliseconds;
    /// True if the scheme is `https`, so that the connection may turn out to be one of HTTP/2, which is shared.
    bool is_secure;
};

/// The kinds of libcurl's results.
enum runloops_result {
    runloops_complete,
    runloops_bad_url,
    /// libcurl needs the addresses of the host, or of the proxy, and was not given them.
    runloops_needs_host,
    runloops_needs_proxy,
    runloops_unresolved,
    runloops_not_connected,
    runloops_timed_out,
    runloops_tls_failed,
    runloops_bad_certificate,
    runloops_connection_lost,
    runloops_bad_answer,
    runloops_not_repeatable,
    /// A callback has refused to continue.
    runloops_stopped,
    runloops_no_memory,
    runloops_other_result,
};

/// Initializes libcurl. Call it once in a process. Returns false if it cannot be used.
bool runloops_transfers_prepare(void);

/// Makes a multi handle; NULL if there is no memory. `total` is 0 for no limit.
struct runloops_transfers *runloops_transfers_new(
    long per_host, long total, runloops_watch watch, runloops_alarm alarm, void *context);
/// Frees a multi handle that has no transfers; `watch` is called for descriptors that it closes.
void runloops_transfers_free(struct runloops_transfers *transfers);

/// Lets libcurl work on a descriptor or, if it is -1, on everything that is due.
void runloops_transfers_act(struct runloops_transfers *transfers, int descriptor, bool read, bool write, bool error);
/// Takes the next complete transfer from libcurl. Returns its context, and sets `*code` to libcurl's code; NULL if there is none.
void *runloops_transfers_next(struct runloops_transfers *transfers, int *code);

/// Makes an easy handle with the settings of its client; NULL if there is no memory or libcurl refuses a setting.
///
/// A handle serves one request. libcurl keeps more in a handle than it says, such as the count of the requests that it has repeated.
struct runloops_transfer *runloops_transfer_new(
    struct runloops_transfers *transfers, const struct runloops_settings *settings,
    const struct runloops_callbacks *callbacks, void *context);
/// Takes a transfer out of its multi handle, if it has begun, and frees it. Never waits.
void runloops_transfer_free(struct runloops_transfer *transfer);
/// Adds a field to the header of the request. Returns false if there is no memory.
bool runloops_transfer_add_field(struct runloops_transfer *transfer, const char *line);
/// Begins the request. Returns libcurl's code.
int runloops_transfer_begin(struct runloops_transfer *transfer, const struct runloops_request *request);
/// Continues a transfer that held bytes back, or waited for bytes to send. This may call the callbacks. Returns libcurl's code.
int runloops_transfer_resume(struct runloops_transfer *transfer);
/// True if the request was sent, or is being sent.
bool runloops_transfer_has_sent(struct runloops_transfer *transfer);
/// The version of HTTP that the connection of the request speaks.
enum runloops_spoken { runloops_speaks_unknown, runloops_speaks_http1, runloops_speaks_http2 };
enum runloops_spoken runloops_transfer_spoken(struct runloops_transfer *transfer);
/// A number that changes when bytes are sent or received; -1 before the request is sent.
int64_t runloops_transfer_progress(struct runloops_transfer *transfer);
/// The text for the last error, which belongs to the transfer.
const char *runloops_transfer_words(struct runloops_transfer *transfer, int code);
/// True if the connection of a request that has just ended is known to have ended without TLS's closing notice.
bool runloops_transfer_was_cut(struct runloops_transfer *transfer);
/// The kind of result that a code of libcurl means.
enum runloops_result runloops_transfer_result(struct runloops_transfer *transfer, int code);

/// The number of bytes of a regular file after its offset, which is `*offset`; -1 if the file is of another kind, or with errno if
/// a call fails.
int64_t runloops_file_rest(int descriptor, bool *is_regular, int64_t *offset);
