#pragma once

#include <stdbool.h>

/// Keeps this option of `curl_easy_setopt` from libcurl's transfers from now on; 0 for none.
void faults_withhold_option(int option);

/// Makes the process exit with the status 7 if OpenSSL frees its memory at the exit of the process. Returns false if OpenSSL is not
/// loaded, or there is no memory.
bool faults_forbid_openssl_cleanup(void);

/// The number of times that the calling thread has changed the disposition of SIGPIPE, also inside a library.
unsigned faults_pipe_dispositions(void);

/// The number of calls by the calling thread that libcurl has refused, because one of its callbacks was running: of
/// `curl_multi_add_handle`, `curl_multi_remove_handle` and `curl_multi_socket_action`.
unsigned faults_refused_multi_calls(void);
