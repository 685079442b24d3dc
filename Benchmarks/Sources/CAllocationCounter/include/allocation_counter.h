#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Starts or stops counting. While off, an allocation costs one extra load.
void bench_allocations_count(bool on);

/// The number of allocations that all threads made while counting was on.
uint64_t bench_allocations(void);

/// The bytes that all threads have allocated, including the allocator's own bytes around each piece.
uint64_t bench_allocated_bytes(void);
