#pragma once

#include <stdbool.h>
#include <stdint.h>

// The speed of the kernel and of plain C on this machine. All other figures are reported as ratios to these.

/// A place for one thread to sleep: an eventfd that an epoll watches, edge-triggered and never read.
///
/// The least that a loop needs if it must also be able to watch descriptors.
typedef struct {
    int epoll;
    int event;
} bench_parker;

/// Opens both descriptors; false, with nothing left open, if the kernel refuses.
bool bench_parker_open(bench_parker *parker);

void bench_parker_close(bench_parker *parker);

/// Ends one sleep, the current or the next.
void bench_parker_unpark(const bench_parker *parker);

/// Sleeps until the parker is unparked, unless it was unparked since the last sleep.
void bench_parker_park(const bench_parker *parker);

/// Opens a descriptor that is readable from the start if `ready`, else after the first write; -1 if the kernel refuses.
int bench_event_open(bool ready);

/// Makes the descriptor readable.
void bench_event_write(int event);

/// A timer for one thread: a timerfd that an epoll watches, edge-triggered and never read.
///
/// The least that a loop needs if it must wake at a time and also be able to watch descriptors.
typedef struct {
    int epoll;
    int timer;
} bench_timer;

/// Opens both descriptors; false, with nothing left open, if the kernel refuses.
bool bench_timer_open(bench_timer *timer);

void bench_timer_close(bench_timer *timer);

/// Sleeps until a deadline in nanoseconds on the monotonic clock.
void bench_timer_sleep(const bench_timer *timer, int64_t deadline);

/// A mutex-free list with one malloc per message: the yardstick "list".
typedef struct bench_list bench_list;

/// Takes one message on the consumer's thread.
typedef void (*bench_receive)(void *context, int64_t value);

/// Returns a new list, or NULL if memory or descriptors run out.
bench_list *bench_list_create(void);

/// Frees the list and all messages in it. No thread may be in another call.
void bench_list_destroy(bench_list *list);

/// Adds a message; writes the eventfd only if the consumer announced its sleep. Any thread.
void bench_list_push(bench_list *list, int64_t value);

/// Receives messages in order until the list is stopped, and sleeps while there are none. One thread.
void bench_list_run(bench_list *list, bench_receive receive, void *context);

/// Ends `bench_list_run` once all messages that were pushed before are received. Any thread.
void bench_list_stop(bench_list *list);

/// The kinds of packet between two processes: one that is only counted, one that asks for the count so far, and the answer.
typedef enum { bench_packet_plain = 0, bench_packet_question = 1, bench_packet_count = 2 } bench_packet_kind;

/// The most bytes in a packet.
enum { bench_packet_most = 4096 };

/// Opens the two ends of a connection that keeps packets apart; false if the kernel refuses.
bool bench_packets_open(int ends[2]);

void bench_packets_close(int end);

/// Opens an epoll that watches a descriptor, level-triggered; -1 if the kernel refuses.
int bench_watch(int descriptor);

/// Waits until the descriptor of an epoll is ready.
void bench_wait(int epoll);

/// Sends one packet; blocks while there is no room.
void bench_packets_send(int end, bench_packet_kind kind, int length);

/// Receives a packet. Waits for it in the epoll, or, with -1, in the receiving call itself.
///
/// Returns the count of an answer, the kind of any other packet, or -1 if the peer has closed its end.
int64_t bench_packets_receive(int end, int epoll);

/// Counts packets and answers questions until the peer closes its end.
void bench_packets_serve(int end, int epoll);

/// The length of a post through the relay.
enum { bench_post_length = 64 };

/// Receives posts and sends each to all observers, with an epoll, until the descriptor `stop` is readable.
///
/// All sockets are of the kind SEQPACKET. A full one makes the relay wait, and then the poster.
void bench_relay_serve(int poster, const int *observers, int32_t count, int stop);

/// Sends a post to the relay; false if the connection has ended.
bool bench_relay_post(int poster, int64_t number, int64_t time);

/// Waits for the next post; false if the connection has ended.
bool bench_relay_observe(int observer, int64_t *number, int64_t *time);
