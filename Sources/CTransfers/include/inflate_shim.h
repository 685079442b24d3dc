#pragma once

#include <stdbool.h>
#include <stddef.h>

// Decodes bodies in the codings `gzip` and `deflate`, in steps whose input and output the caller limits.

struct runloops_inflater;

enum runloops_coding { runloops_gzip, runloops_deflate };

enum runloops_inflating {
    runloops_inflated,
    /// The bytes are not in the coding, or a checksum is wrong.
    runloops_not_inflatable,
    runloops_inflate_no_memory,
};

/// Makes a decoder; NULL if there is no memory.
struct runloops_inflater *runloops_inflater_new(enum runloops_coding coding);
void runloops_inflater_free(struct runloops_inflater *inflater);

/// Decodes bytes until they are used up or the room is full. `*count` is the number of bytes, and then of those that were used;
/// `*capacity` is the size of the room, and then the number of bytes that were written to it.
enum runloops_inflating runloops_inflate(
    struct runloops_inflater *inflater, const void *bytes, size_t *count, void *room, size_t *capacity);

/// True if the decoder can have more output without more input.
bool runloops_inflater_is_full(const struct runloops_inflater *inflater);

/// True if the body may end here: nothing was decoded yet, or the last part is complete and its checksum is right.
bool runloops_inflater_is_whole(const struct runloops_inflater *inflater);
