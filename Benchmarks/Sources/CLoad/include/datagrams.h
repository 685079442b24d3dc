#pragma once

#include <stdbool.h>
#include <stdint.h>

// Datagrams over UDP on the loopback interface: the sender, the check of what is received, and a receiver in C.
//
// A datagram is its number and zeros. Datagrams are sent in bursts, while the receiver is held in the handler of the last datagram of
// the burst before. So each receiver finds the same datagrams in its socket, however fast it is.

enum {
    bench_datagram_length = 64,
    /// The number of datagrams in a burst. The buffer of a socket has room for them.
    bench_datagram_burst = 125,
    /// The number of datagrams that a receiver takes with one call, where it can choose.
    bench_datagram_batch = 32,
};

/// The bursts to one receiver.
typedef struct bench_bursts bench_bursts;

/// Returns bursts to a port of the loopback interface, or NULL if the kernel refuses.
bench_bursts *bench_bursts_create(uint16_t port);

void bench_bursts_destroy(bench_bursts *bursts);

/// Sends bursts, and waits until the receiver has taken all. Returns false if a datagram was lost, doubled or changed, or does not
/// arrive within ten seconds.
bool bench_bursts_run(bench_bursts *bursts, int64_t count);

/// Checks a received datagram. Every receiver calls this once for each datagram, on its thread. With the last datagram of a burst,
/// returns when the next burst is in the socket, or at once after the last burst.
void bench_bursts_take(bench_bursts *bursts, const void *bytes, int64_t length);

/// Opens a socket on a free port of the loopback interface. Returns -1 if the kernel refuses.
int bench_datagrams_open(void);

/// The port of a socket.
uint16_t bench_datagrams_port(int socket);

/// Receives with epoll and `recvmmsg`, with the addresses of the senders, until the descriptor `stop` is readable.
void bench_datagrams_receive(int socket, int stop, bench_bursts *bursts);
