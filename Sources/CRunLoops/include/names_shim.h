#pragma once

#include <stddef.h>

/// A name that the process keeps until its end. Two names with the same bytes are one object.
struct runloops_name {
    /// The next name in the same list.
    const struct runloops_name *next;
    size_t length;
    /// The bytes, which are not terminated.
    char bytes[];
};

static inline const char *runloops_name_bytes(const struct runloops_name *name) { return name->bytes; }

/// Finds or makes the name with these bytes. It takes no lock, so it can be called in a forked child, too.
const struct runloops_name *runloops_name(const char *bytes, size_t length);
