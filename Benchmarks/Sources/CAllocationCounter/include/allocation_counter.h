#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Starts or stops counting. While off, an allocation costs one extra load.
void bench_allocations_count(bool on);

/// How many allocations all threads made while counting was on.
uint64_t bench_allocations(void);

/// How many bytes are allocated by all threads, with what the allocator keeps around each piece.
uint64_t bench_allocated_bytes(void);
