#pragma once

#include <stdbool.h>
#include <stdint.h>

// The speed of the kernel and of plain C on this machine. All other figures are reported as ratios to these yardsticks.

/// A place for one thread to sleep: an eventfd that an epoll watches, edge-triggered and never read.
///
/// This is the minimum for a loop that must also be able to watch descriptors.
typedef struct {
    int epoll;
    int event;
} bench_parker;

/// Opens both descriptors. Returns false, with neither descriptor open, if the kernel refuses.
bool bench_parker_open(bench_parker *parker);

void bench_parker_close(bench_parker *parker);

/// Wakes up the thread from its current sleep, or from its next sleep if the thread is awake.
void bench_parker_unpark(const bench_parker *parker);

/// Sleeps until the parker is unparked. Returns at once if the parker was unparked since the last sleep.
void bench_parker_park(const bench_parker *parker);

/// Opens a descriptor that is readable from the start if `ready`, else after the first write. Returns -1 if the kernel refuses.
int bench_event_open(bool ready);

/// Makes the descriptor readable.
void bench_event_write(int event);

/// A timer for one thread: a timerfd that an epoll watches, edge-triggered and never read.
///
/// This is the minimum for a loop that must wake up at a time and also be able to watch descriptors.
typedef struct {
    int epoll;
    int timer;
} bench_timer;

/// Opens both descriptors. Returns false, with neither descriptor open, if the kernel refuses.
bool bench_timer_open(bench_timer *timer);

void bench_timer_close(bench_timer *timer);

/// Sleeps until a deadline in nanoseconds on the monotonic clock.
void bench_timer_sleep(const bench_timer *timer, int64_t deadline);

/// A list without locks and with one malloc per message: the yardstick "list".
typedef struct bench_list bench_list;

/// Receives one message on the consumer's thread.
typedef void (*bench_receive)(void *context, int64_t value);

/// Returns a new list, or NULL if memory or descriptors run out.
bench_list *bench_list_create(void);

/// Frees the list and all messages in it. No other thread is allowed to use the list.
void bench_list_destroy(bench_list *list);

/// Adds a message. Writes to the eventfd only if the consumer sleeps or is about to sleep. Thread-safe.
void bench_list_push(bench_list *list, int64_t value);

/// Receives messages in order until the list is stopped, and sleeps while the list is empty. Call this on one thread.
void bench_list_run(bench_list *list, bench_receive receive, void *context);

/// Ends `bench_list_run` after all messages that were pushed before this call are received. Thread-safe.
void bench_list_stop(bench_list *list);

/// The kinds of packet between two processes: a packet that is only counted, a request for the count so far, and the answer.
typedef enum { bench_packet_plain = 0, bench_packet_question = 1, bench_packet_count = 2 } bench_packet_kind;

/// The maximum number of bytes in a packet.
enum { bench_packet_most = 4096 };

/// Opens the two ends of a connection that keeps packets apart. Returns false if the kernel refuses.
bool bench_packets_open(int ends[2]);

void bench_packets_close(int end);

/// Opens an epoll that watches a descriptor, level-triggered. Returns -1 if the kernel refuses.
int bench_watch(int descriptor);

/// Waits until the descriptor that an epoll watches is ready.
void bench_wait(int epoll);

/// Sends one packet. Blocks while the socket is full.
void bench_packets_send(int end, bench_packet_kind kind, int length);

/// Receives a packet. Waits for the packet in the epoll, or in `recv` if `epoll` is -1.
///
/// Returns the count of an answer, the kind of any other packet, or -1 if the peer has closed its end.
int64_t bench_packets_receive(int end, int epoll);

/// Counts packets and answers questions until the peer closes its end.
void bench_packets_serve(int end, int epoll);

/// The length of a post through the relay.
enum { bench_post_length = 64 };

/// Receives posts with epoll, and sends each post to all observers, until the descriptor `stop` is readable.
///
/// All sockets are of the kind SEQPACKET. If an observer's socket is full, the relay blocks, and in turn the poster.
void bench_relay_serve(int poster, const int *observers, int32_t count, int stop);

/// Sends a post to the relay. Returns false if the connection has ended.
bool bench_relay_post(int poster, int64_t number, int64_t time);

/// Waits for the next post. Returns false if the connection has ended.
bool bench_relay_observe(int observer, int64_t *number, int64_t *time);
