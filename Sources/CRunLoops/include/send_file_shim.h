#pragma once

#include <stddef.h>
#include <stdint.h>

/// Sends bytes of a file to a socket, without a copy through this process. Never waits for the socket, and never raises SIGPIPE.
/// Returns the number of bytes, 0 at the end of the file, or -1 with errno.
long runloops_send_file(int socket, int file, int64_t offset, size_t count);
