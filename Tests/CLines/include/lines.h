#pragma once

#pragma clang assume_nonnull begin

/// A small library as many are: it asks questions over sockets, a line each, and leaves the waiting to the program.
///
/// It belongs to one thread, and calls back only inside the functions below.
struct lines;

#define LINES_READ 1
#define LINES_WRITE 2

enum lines_status { LINES_ANSWERED, LINES_TIMED_OUT, LINES_BROKEN, LINES_CANCELLED };

/// The library wants a descriptor watched for these events from now on; 0: it is about to close it.
typedef void (*lines_watch_function)(int descriptor, int events, void *context);

/// The library wants to be called in so many milliseconds at the latest; -1: not for the time's sake.
typedef void (*lines_timer_function)(long milliseconds, void *context);

/// The outcome of a question, once for each. The text is the library's; it is empty unless the status is LINES_ANSWERED.
typedef void (*lines_answer_function)(enum lines_status status, const char *text, void *data);

struct lines *lines_new(lines_watch_function watch, lines_timer_function timer, void *context);

/// Asks a question over a connected socket, which is the library's from now on.
void lines_ask(
    struct lines *lines, int socket, const char *question, long milliseconds, lines_answer_function answer, void *data);

/// A descriptor is ready for these events; -1 if only time has passed.
void lines_process(struct lines *lines, int descriptor, int events);

/// Cancels all questions.
void lines_free(struct lines *lines);

#pragma clang assume_nonnull end
