#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The number of descriptors that the kernel lets one packet carry: SCM_MAX_FD, which no header exports to programs.
enum { runloops_most_descriptors = 253 };

/// The result of receiving a packet.
struct runloops_packet {
    /// The length of the packet, even if the buffer is shorter. 0 for the end of the connection or an empty packet.
    size_t length;
    /// The number of descriptors that are listed, all of them open.
    size_t descriptor_count;
    /// True if bytes did not fit.
    bool lacks_bytes;
    /// True if the kernel could not open all descriptors, because this process may open no more. A packet that was peeked at
    /// first is still in the kernel's queue.
    bool lacks_descriptors;
    /// True if the packet carries more descriptors than were permitted. It is still in the kernel's queue.
    bool exceeds_permitted;
};

/// The identity of the process at the other end.
struct runloops_peer {
    int32_t process;
    uint32_t user, group;
};

/// Opens a socket that keeps packet boundaries, close-on-exec. Returns -1 with errno.
int runloops_socket(bool is_non_blocking);

/// Opens two connected sockets that keep packet boundaries, non-blocking and close-on-exec. Returns -1 with errno.
int runloops_socket_pair(int ends[2]);

/// Binds a socket to a path, or to an abstract name. Returns -1 with errno.
int runloops_bind(int socket, const char *name, size_t length, bool is_abstract);

/// Connects a socket to a path, or to an abstract name, and waits for room in the listener's backlog for at most the given time; 0
/// waits forever. Returns -1 with errno.
int runloops_connect(int socket, const char *name, size_t length, bool is_abstract, int64_t microseconds);

/// Makes a socket blocking. Returns -1 with errno.
int runloops_set_blocking(int descriptor);

/// Lets packets that are sent to a socket carry descriptors, or makes the kernel refuse such packets to their senders. The
/// connections of a listener begin with its setting. Returns -1 with errno, also if the kernel has no such setting.
int runloops_allow_descriptors(int socket, bool allows);

/// Accepts a connection, non-blocking and close-on-exec. Returns -1 with errno.
int runloops_accept(int socket);

/// Gets the identity of the process at the other end. Returns -1 with errno.
int runloops_peer_of(int socket, struct runloops_peer *peer);

/// Gets the space, in bytes, for packets that were sent and not yet received. Returns -1 with errno.
int runloops_sending_space(int socket);

/// Sets the space that `runloops_sending_space` returns. Returns -1 with errno.
int runloops_set_sending_space(int socket, int bytes);

/// Sends one packet of two parts, one after the other, and descriptors, which stay open here. Never waits, and never raises
/// SIGPIPE. Returns -1 with errno.
long runloops_send(
    int socket, const void *head, size_t head_length, const void *body, size_t body_length, const int *descriptors,
    size_t descriptor_count);

/// Receives one packet with its descriptors, close-on-exec. Waits for a packet if `waits` is true and the socket is blocking.
/// Returns -1 with errno, and nothing open.
///
/// If `permitted` is 0 or more, the function peeks at the packet before it receives the packet, at the price of a system call, and
/// leaves a packet with more descriptors than `permitted` in the queue. In this case, no descriptor is closed. If `permitted` is
/// -1, the function receives without a peek, and the kernel closes the descriptors that this process cannot open, on the calling
/// thread. Only one thread may receive from the socket at a time.
int runloops_receive(
    int socket, bool waits, int permitted, void *buffer, size_t capacity,
    int descriptors[runloops_most_descriptors], struct runloops_packet *packet);

/// True if a socket that was shut down has nothing left to read, so that closing the socket closes no descriptors of packets.
bool runloops_is_drained(int socket);

/// The number of descriptors that this process may have open: its soft limit.
size_t runloops_descriptor_limit(void);

/// True if this process can open the descriptors of two packets: the highest numbers below its limit are not in use.
bool runloops_has_free_descriptors(void);

/// Reads the cheapest clock, in nanoseconds. The clock is some milliseconds behind, and never goes backwards.
int64_t runloops_coarse_time(void);

/// The event that a wait is for. Each wait also ends when the other end has hung up.
enum runloops_awaited { runloops_wait_to_read, runloops_wait_to_write, runloops_wait_for_end };

/// Waits until a socket can be read or written, or the other end has hung up. Returns 0 if that happens in time, 1 if the time is
/// over, -1 with errno. A negative time waits forever.
int runloops_wait_for_socket(int socket, enum runloops_awaited event, int64_t nanoseconds);

/// True if the other end will send nothing more.
bool runloops_has_hung_up(int socket);
