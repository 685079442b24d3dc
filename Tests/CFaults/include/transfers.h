#pragma once

/// From now on libcurl's transfers do not get this option of `curl_easy_setopt`; 0 for all of them.
void faults_withhold_option(int option);

/// The number of times that the calling thread has changed the disposition of SIGPIPE, also inside a library.
unsigned faults_pipe_dispositions(void);
