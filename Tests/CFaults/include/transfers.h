#pragma once

/// Keeps this option of `curl_easy_setopt` from libcurl's transfers from now on; 0 for none.
void faults_withhold_option(int option);

/// The number of times that the calling thread has changed the disposition of SIGPIPE, also inside a library.
unsigned faults_pipe_dispositions(void);

/// The number of calls by the calling thread that libcurl has refused, because one of its callbacks was running: of
/// `curl_multi_add_handle`, `curl_multi_remove_handle` and `curl_multi_socket_action`.
unsigned faults_refused_multi_calls(void);
