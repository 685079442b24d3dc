#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 256 };

struct question {
    struct question *next;
    int socket;
    int events;
    long long deadline;
    char text[LONGEST];
    size_t length, sent, received;
    char reply[LONGEST];
    lines_answer_function answer;
    void *data;
};

struct lines {
    lines_watch_function watch;
    lines_timer_function timer;
    void *context;
    struct question *first;
    long long deadline;
};

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct lines *lines_new(lines_watch_function watch, lines_timer_function timer, void *context) {
    struct lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) abort();
    lines->watch = watch;
    lines->timer = timer;
    lines->context = context;
    lines->deadline = -1;
    return lines;
}

static void watch(struct lines *lines, struct question *question, int events) {
    if (question->events == events) return;
    question->events = events;
    lines->watch(question->socket, events, lines->context);
}

static void set_timer(struct lines *lines) {
    long long deadline = -1;
    for (struct question *each = lines->first; each != NULL; each = each->next)
        if (deadline < 0 || each->deadline < deadline) deadline = each->deadline;
    if (deadline == lines->deadline) return;
    lines->deadline = deadline;
    long long left = deadline < 0 ? -1 : deadline - now();
    lines->timer(deadline < 0 ? -1 : left > 0 ? (long)left : 0, lines->context);
}

/// Takes a question out, and closes its socket before the answer may ask another one.
static void end(struct lines *lines, struct question *question, enum lines_status status) {
    struct question **place = &lines->first;
    while (*place != question) place = &(*place)->next;
    *place = question->next;
    watch(lines, question, 0);
    close(question->socket);
    question->answer(status, status == LINES_ANSWERED ? question->reply : "", question->data);
    free(question);
}

void lines_ask(
    struct lines *lines, int socket, const char *text, long milliseconds, lines_answer_function answer, void *data) {
    struct question *question = calloc(1, sizeof *question);
    if (question == NULL) abort();
    fcntl(socket, F_SETFL, O_NONBLOCK);
    question->socket = socket;
    question->length = strlen(text) < LONGEST - 1 ? strlen(text) : LONGEST - 1;
    memcpy(question->text, text, question->length);
    question->text[question->length++] = '\n';
    // One more, because the time of now is rounded down.
    question->deadline = now() + milliseconds + 1;
    question->answer = answer;
    question->data = data;
    question->next = lines->first;
    lines->first = question;
    watch(lines, question, LINES_WRITE);
    set_timer(lines);
}

/// Returns true when the question is over.
static bool advance(struct question *question, enum lines_status *status) {
    *status = LINES_BROKEN;
    if (question->sent < question->length) {
        ssize_t count =
            send(question->socket, question->text + question->sent, question->length - question->sent, MSG_NOSIGNAL);
        if (count < 0) return errno != EAGAIN;
        question->sent += (size_t)count;
        if (question->sent < question->length) return false;
    }
    ssize_t count = read(question->socket, question->reply + question->received, LONGEST - 1 - question->received);
    if (count < 0) return errno != EAGAIN;
    if (count == 0) return true;
    question->received += (size_t)count;
    char *newline = memchr(question->reply, '\n', question->received);
    if (newline == NULL) return question->received == LONGEST - 1;
    *newline = 0;
    *status = LINES_ANSWERED;
    return true;
}

void lines_process(struct lines *lines, int descriptor, int events) {
    (void)events;
    for (struct question *each = lines->first, *next; each != NULL; each = next) {
        next = each->next;
        if (each->socket != descriptor) continue;
        enum lines_status status;
        if (advance(each, &status)) {
            end(lines, each, status);
        } else {
            watch(lines, each, each->sent < each->length ? LINES_WRITE : LINES_READ);
        }
        break;
    }
    // From the start after each: an answer may ask.
    for (struct question *each = lines->first; each != NULL;) {
        if (each->deadline > now()) {
            each = each->next;
            continue;
        }
        end(lines, each, LINES_TIMED_OUT);
        each = lines->first;
    }
    // The time that was asked for may have passed.
    if (descriptor < 0) lines->deadline = -1;
    set_timer(lines);
}

void lines_free(struct lines *lines) {
    while (lines->first != NULL) end(lines, lines->first, LINES_CANCELLED);
    free(lines);
}
