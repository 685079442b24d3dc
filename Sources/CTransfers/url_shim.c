#include "url_shim.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/// The port of a proxy whose URL names none.
enum { proxy_port = 1080, secure_port = 443 };

/// Copies a string and frees libcurl's. Removes the brackets around an address.
static char *take(char *text) {
    if (text == NULL) return NULL;
    size_t count = strlen(text);
    bool has_brackets = count > 2 && text[0] == '[' && text[count - 1] == ']';
    char *copy = has_brackets ? strndup(text + 1, count - 2) : strdup(text);
    curl_free(text);
    return copy;
}

/// libcurl converts other hosts only in some locales, and leaks memory if it cannot.
static bool is_ascii(const char *text) {
    while (*text != 0 && (unsigned char)*text < 0x80) text += 1;
    return *text == 0;
}

static bool read_parts(CURLU *parsed, struct runloops_url *url, unsigned port_flags) {
    char *scheme = NULL, *host = NULL, *port = NULL, *text = NULL;
    curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0);
    curl_url_get(parsed, CURLUPART_HOST, &host, 0);
    curl_url_get(parsed, CURLUPART_PORT, &port, port_flags);
    curl_url_get(parsed, CURLUPART_URL, &text, 0);
    url->is_http = scheme && strcmp(scheme, "http") == 0;
    url->is_https = scheme && strcmp(scheme, "https") == 0;
    url->port = port ? atoi(port) : url->is_https ? secure_port : proxy_port;
    url->host = take(host);
    url->text = take(text);
    curl_free(scheme);
    curl_free(port);
    if (url->host && url->text && is_ascii(url->host)) return true;
    runloops_url_free(url);
    return false;
}

bool runloops_url_parse(const char *base, const char *text, struct runloops_url *url) {
    *url = (struct runloops_url){0};
    CURLU *parsed = curl_url();
    if (parsed == NULL) return false;
    // The flags are libcurl's own for requests and for redirects.
    unsigned flags = CURLU_NON_SUPPORT_SCHEME;
    bool is_right = base == NULL || curl_url_set(parsed, CURLUPART_URL, base, flags) == CURLUE_OK;
    if (base) flags |= CURLU_URLENCODE | CURLU_ALLOW_SPACE;
    is_right = is_right && curl_url_set(parsed, CURLUPART_URL, text, flags) == CURLUE_OK
        && read_parts(parsed, url, CURLU_DEFAULT_PORT);
    curl_url_cleanup(parsed);
    return is_right;
}

bool runloops_url_parse_proxy(const char *text, struct runloops_url *url) {
    *url = (struct runloops_url){0};
    CURLU *parsed = curl_url();
    if (parsed == NULL) return false;
    unsigned flags = CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME;
    bool is_right = curl_url_set(parsed, CURLUPART_URL, text, flags) == CURLUE_OK && read_parts(parsed, url, 0);
    curl_url_cleanup(parsed);
    return is_right;
}

void runloops_url_free(struct runloops_url *url) {
    free(url->text);
    free(url->host);
    *url = (struct runloops_url){0};
}
