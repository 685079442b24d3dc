#pragma once

#include <stdbool.h>

struct event_base;
struct event_config;

/// Makes a base, as `event_base_new_with_config` does, and returns also where libevent would end the process.
///
/// Returns NULL with `errno` for a base that cannot be made. `*was_left` says that libevent was left where it would have
/// ended the process: the epoll set and the memory that it had by then stay.
struct event_base *runloops_make_event_base(const struct event_config *config, bool *was_left);
