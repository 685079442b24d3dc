#pragma once

#include <stdbool.h>

struct event_base;
struct event_config;

/// Makes a base, as `event_base_new_with_config` does, but returns where libevent would end the process.
///
/// Returns NULL with `errno` if the base cannot be made. `*was_left` is true if libevent would have ended the process: the
/// epoll set and the memory that it had by then are leaked.
struct event_base *runloops_make_event_base(const struct event_config *config, bool *was_left);
