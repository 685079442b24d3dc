#pragma once

#include <stdbool.h>
#include <stddef.h>

/// True if allocations are counted; false if a sanitizer has an allocator of its own.
bool allocations_are_counted(void);

/// The number of allocations that the calling thread has made.
size_t allocations_of_thread(void);

/// The number of bytes that the process has allocated and not freed.
size_t allocations_bytes_in_use(void);
