#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Functions with variable arguments, which Swift cannot call.

typedef size_t (*curl_shim_data)(char *bytes, size_t size, size_t count, void *context);

static inline void curl_shim_long(CURL *easy, CURLoption option, long value) { curl_easy_setopt(easy, option, value); }
static inline void curl_shim_string(CURL *easy, CURLoption option, const char *value) { curl_easy_setopt(easy, option, value); }
static inline void curl_shim_pointer(CURL *easy, CURLoption option, void *value) { curl_easy_setopt(easy, option, value); }
static inline void curl_shim_on_data(CURL *easy, curl_shim_data function, void *context) {
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}
static inline void *curl_shim_private(CURL *easy) {
    char *context = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
    return context;
}
static inline CURLcode curl_shim_result(const CURLMsg *message) { return message->data.result; }
static inline void curl_shim_on_socket(CURLM *multi, curl_socket_callback function, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}
static inline void curl_shim_on_timer(CURLM *multi, curl_multi_timer_callback function, void *context) {
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
