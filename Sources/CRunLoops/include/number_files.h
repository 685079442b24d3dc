#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Opens a memory file of one number, close-on-exec, whose size never changes, and maps it. Returns the descriptor, or -1 with
/// errno and nothing open.
int runloops_number_file_open(uint64_t **number);

/// Unmaps the number of a file.
void runloops_number_file_unmap(uint64_t *number);

/// Stores a number, little-endian, after everything that this thread has stored before (release ordering).
void runloops_number_file_store(uint64_t *number, uint64_t value);

/// Maps the number of a file of another process, to be read at any time. Never waits: it returns NULL for any descriptor that does
/// not refer to a memory file whose size cannot shrink.
const uint64_t *runloops_number_file_map(int descriptor);

/// Unmaps a number that `runloops_number_file_map` has mapped.
void runloops_number_file_unmap_reader(const uint64_t *number);

/// Reads a number that `runloops_number_file_map` has mapped.
uint64_t runloops_number_file_load(const uint64_t *number);
