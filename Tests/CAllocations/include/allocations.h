#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Whether allocations are counted: not where a sanitizer has an allocator of its own.
bool allocations_are_counted(void);

/// How many allocations the calling thread has made.
size_t allocations_of_thread(void);

/// How many bytes the process has allocated and not freed.
size_t allocations_bytes_in_use(void);
