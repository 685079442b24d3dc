#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Starts or stops counting. While counting is off, an allocation costs one extra load.
void bench_allocations_count(bool on);

/// The number of allocations that all threads made while counting was on.
uint64_t bench_allocations(void);

/// The number of bytes in use by the allocations of all threads, including the allocator's overhead for each allocation.
uint64_t bench_allocated_bytes(void);
