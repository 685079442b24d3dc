#pragma once

#include <stdbool.h>

/// The parts of a URL that say where a connection goes.
struct runloops_url {
    /// The URL, normalized.
    char *text;
    /// The host: a name in ASCII, or an address without brackets.
    char *host;
    /// The port; the default port of the scheme if the URL names none.
    int port;
    bool is_http;
    bool is_https;
};

/// Parses a URL, or a reference relative to `base`, which may be NULL. Returns false if it is malformed, its host is not in
/// ASCII, or there is no memory.
/// `*url` must be freed after success.
bool runloops_url_parse(const char *base, const char *text, struct runloops_url *url);
/// Parses the URL of a proxy, which may lack its scheme and its port.
bool runloops_url_parse_proxy(const char *text, struct runloops_url *url);
void runloops_url_free(struct runloops_url *url);
