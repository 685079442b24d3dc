#pragma once

#include <stdbool.h>
#include <stdint.h>

/// A caught signal, in the form in which a signal handler passes it to a loop.
struct runloops_signal {
    /// The number of the signal; 0 for a record that stands for signals for which the pipe had no room.
    int32_t number;
    /// True if a process has sent it: the next two members name the process and its user.
    int32_t has_sender;
    int32_t process;
    uint32_t user;
};

/// The descriptors from which the signals of one number are read.
struct runloops_signal_descriptors {
    /// The descriptor that a loop watches; readable when one of the others is.
    int ready;
    /// The pipe that the signal handler writes to.
    int reading_end, writing_end;
    /// The signalfd of signals that every thread blocks, which no handler ever gets.
    int pending;
};

/// The answer of `runloops_signal_start` if other code has installed a handler.
#define RUNLOOPS_SIGNAL_HANDLED_ELSEWHERE (-1)

/// Opens the descriptors for a signal. Returns 0, or an errno with nothing open; `*call` is then the name of the call that failed.
int runloops_signal_open(int number, struct runloops_signal_descriptors *descriptors, const char **call);

/// Closes the descriptors of a signal.
void runloops_signal_close(const struct runloops_signal_descriptors *descriptors);

/// Installs the handler for a signal: it writes a `runloops_signal` to the pipe for each signal that arrives.
///
/// Returns 0, an errno, or RUNLOOPS_SIGNAL_HANDLED_ELSEWHERE. Must not be called by two threads at the same time for the same
/// number.
int runloops_signal_start(int number, int writing_end);

/// Restores the previous action of the signal, unless other code has replaced the handler since.
///
/// It sleeps until the handlers that run on other threads have returned. When it returns, no handler writes any more.
void runloops_signal_stop(int number);

/// Makes the process ignore a signal. Returns false if the signal has a handler, which then stays.
bool runloops_signal_ignore(int number);

/// Takes the next signal, and returns the number of signals that it stands for: 0 for none, and more than 1 if the pipe had no
/// room for some.
unsigned runloops_signal_next(
    int number, const struct runloops_signal_descriptors *descriptors, struct runloops_signal *signal);

/// The numbers of the first and the last real-time signal that programs may use.
int runloops_first_real_time_signal(void);
int runloops_last_real_time_signal(void);
