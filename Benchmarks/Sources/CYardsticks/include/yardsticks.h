#pragma once

#include <stdbool.h>
#include <stdint.h>

// What the kernel and plain C can do on this machine. Everything else is reported as a ratio to these.

/// A thread's place to sleep: an eventfd watched by an epoll, edge-triggered and never read.
///
/// The least that a loop needs which must also be able to watch descriptors.
typedef struct {
    int epoll;
    int event;
} bench_bed;

/// Opens both descriptors; false, with nothing left open, if the kernel refuses.
bool bench_bed_open(bench_bed *bed);

void bench_bed_close(bench_bed *bed);

/// Ends one sleep, the current or the next.
void bench_bed_wake(const bench_bed *bed);

/// Sleeps until woken since the last sleep.
void bench_bed_sleep(const bench_bed *bed);

/// Opens a descriptor that is ready to be read if `ready`, and once something is written; -1 if the kernel refuses.
int bench_event_open(bool ready);

/// Makes it ready.
void bench_event_write(int event);

/// A thread's alarm: a timerfd watched by an epoll, edge-triggered and never read.
///
/// The least that a loop needs which is to wake at a time and must also be able to watch descriptors.
typedef struct {
    int epoll;
    int timer;
} bench_alarm;

/// Opens both descriptors; false, with nothing left open, if the kernel refuses.
bool bench_alarm_open(bench_alarm *alarm);

void bench_alarm_close(bench_alarm *alarm);

/// Sleeps until a time: nanoseconds on the monotonic clock.
void bench_alarm_sleep(const bench_alarm *alarm, int64_t deadline);

/// A mutex-free list with one malloc per message: the yardstick "list".
typedef struct bench_list bench_list;

/// Takes one message on the consumer's thread.
typedef void (*bench_receive)(void *context, int64_t value);

/// NULL if memory or descriptors run out.
bench_list *bench_list_create(void);

/// Frees the list and what is still in it. No thread may be in another call.
void bench_list_destroy(bench_list *list);

/// Adds a message; writes the eventfd only if the consumer had announced its sleep. Any thread.
void bench_list_push(bench_list *list, int64_t value);

/// Serves messages in order, sleeping when there are none, until stopped. One thread.
void bench_list_run(bench_list *list, bench_receive receive, void *context);

/// Ends `bench_list_run` once what was pushed before is served. Any thread.
void bench_list_stop(bench_list *list);

/// What a packet between two processes is: only counted, one that is answered with the count so far, or such an answer.
typedef enum { bench_packet_plain = 0, bench_packet_question = 1, bench_packet_count = 2 } bench_packet_kind;

/// How long a packet is at most.
enum { bench_packet_most = 4096 };

/// Opens two ends of a connection that keeps packets apart; false if the kernel refuses.
bool bench_packets_open(int ends[2]);

void bench_packets_close(int end);

/// Opens an epoll that watches an end; -1 if the kernel refuses.
int bench_packets_watch(int end);

/// Sends one packet; waits for room.
void bench_packets_send(int end, bench_packet_kind kind, int length);

/// Waits for a packet: in the epoll, or, with -1, in the receiving call itself.
///
/// Returns the count of an answer, the kind of any other packet, -1 at the end.
int64_t bench_packets_receive(int end, int epoll);

/// Counts packets and answers questions until the end.
void bench_packets_serve(int end, int epoll);
