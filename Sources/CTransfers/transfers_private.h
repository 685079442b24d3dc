#pragma once

#include <curl/curl.h>

#include "transfers_shim.h"

#if LIBCURL_VERSION_NUM < 0x075100
#error "HTTPClients needs libcurl 7.81 or newer"
#endif

// libcurl 7.87 has a name for this value. Older versions take any count but that of the bytes for an error, too.
#ifndef CURL_WRITEFUNC_ERROR
#define CURL_WRITEFUNC_ERROR 0xFFFFFFFF
#endif

struct runloops_transfers {
    CURLM *multi;
    /// The TLS sessions, which libcurl would otherwise keep in each easy handle.
    CURLSH *sessions;
    runloops_watch watch;
    runloops_alarm alarm;
    void *context;
};

struct runloops_transfer {
    CURL *easy;
    struct runloops_transfers *transfers;
    bool is_added;
    struct curl_slist *fields;
    struct curl_slist *addresses;
    /// OpenSSL's object for the connection of the request; NULL without TLS. It is compared, not used: it may have ended.
    const void *tls;
    /// The version of HTTP that the connection of the request speaks.
    enum runloops_spoken spoken;
    /// The number of times that libcurl was about to send the request.
    unsigned requests;
    /// The number of names that libcurl may still ask for.
    int numeric_names;
    /// True if libcurl has asked for the addresses of a name, and got none.
    bool was_refused;
    struct runloops_callbacks callbacks;
    void *context;
    char words[CURL_ERROR_SIZE];
};

/// Sets the options of TLS that need OpenSSL, if libcurl uses OpenSSL.
void runloops_tls_set_up(CURL *easy);
/// Forgets which connections have got TLS's closing notice. Called before libcurl is.
void runloops_tls_forget_closed(void);
/// Renews what the next call of libcurl may read over TLS.
void runloops_tls_allow_reading(void);
/// The version of HTTP that was agreed on with TLS.
enum runloops_spoken runloops_tls_spoken(const void *tls);
