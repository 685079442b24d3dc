#pragma once

/// Keeps this option of `curl_easy_setopt` from libcurl's transfers from now on; 0 for none.
void faults_withhold_option(int option);

/// The number of times that the calling thread has changed the disposition of SIGPIPE, also inside a library.
unsigned faults_pipe_dispositions(void);
