#pragma once

struct runloops_pipe_ends {
    int reading, writing;
};

/// Opens a pipe whose ends are close-on-exec. Returns 0, or -1 with errno and nothing open.
int runloops_pipe(struct runloops_pipe_ends *ends);

/// Opens an empty file in memory, close-on-exec, which can be sealed. Returns its descriptor, or -1 with errno.
int runloops_memory_file(const char *name);
