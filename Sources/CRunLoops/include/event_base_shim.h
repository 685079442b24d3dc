#pragma once

#include <stdbool.h>

struct event;
struct event_base;
struct event_config;

/// Makes a base, as `event_base_new_with_config` does, but returns even in cases in which libevent would end the process.
///
/// Returns NULL with `errno` if the base cannot be made. `*was_left` is true if libevent would have ended the process: the
/// epoll set and the memory that it had by then are leaked.
struct event_base *runloops_make_event_base(const struct event_config *config, bool *was_left);

/// Finds the epoll set of this process that watches two descriptors.
///
/// libevent does not expose the descriptor of its set; the kernel lists the descriptors that each set watches in
/// `/proc/self/fdinfo`.
///
/// Returns the set's descriptor, or -1 with `errno`: `ENOENT` if there is no such set.
int runloops_find_epoll_set(int first, int second);

/// Adds an event of a descriptor to its base, as `event_add` does, and lets its callback get everything that the kernel
/// reports.
///
/// libevent turns an error or a hang-up into readiness to read and to write, and gives a callback only the part of that readiness
/// that its event asks for. So a callback for reading could not tell an error from data. After this call, the callback gets both
/// parts. The kernel is asked for no more than before.
int runloops_watch_event(struct event *event);

/// Removes an event from its base, as `event_del` does.
///
/// `interest` is the readiness that the event was made for: from it, libevent computes the readiness that the kernel is still to be
/// asked for.
void runloops_unwatch_event(struct event *event, short interest);

/// Adds 1 to the counter of an eventfd. Returns false with `errno` if the kernel refuses.
///
/// Unlike `eventfd_write`, the call is no cancellation point, and so does not change the state of the thread's cancellation.
bool runloops_raise_eventfd(int descriptor);

/// Sets the counter of an eventfd to 0; if it is 0, does nothing. The call is no cancellation point.
void runloops_empty_eventfd(int descriptor);
