#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The settings of a socket for datagrams. A number that is negative leaves the setting to the system.
struct runloops_datagram_options {
    bool reuses_port;
    /// True if an IPv6 socket takes IPv4 datagrams, too.
    bool takes_ipv4;
    bool sends_broadcasts;
    int multicast_hops;
    /// The index of the interface for sent multicasts.
    int multicast_interface;
    int receive_buffer;
    int send_buffer;
};

/// Opens a socket for datagrams, non-blocking and close-on-exec, and binds it. Without an address (a length of 0), a Unix socket
/// gets a name that the kernel chooses, and any other socket gets its address later. Returns -1 with errno, and nothing open;
/// `*call` is the name of the call that failed.
int runloops_open_datagrams(
    int family, const void *address, unsigned length, struct runloops_datagram_options options, const char **call);

/// Connects a socket for datagrams to its only peer. Returns -1 with errno.
int runloops_connect_datagrams(int socket, const void *address, unsigned length);

/// Makes the kernel queue the errors that the network reports about sent datagrams. Fails without effect for a Unix socket.
void runloops_queue_network_errors(int socket);

/// True if a descriptor is a socket for datagrams.
bool runloops_is_for_datagrams(int descriptor);

/// Returns the family of an address.
int runloops_family_of_address(const void *address, unsigned length);

/// Returns the index of a network interface; 0 with errno if there is none of that name.
unsigned runloops_interface_index(const char *name);

/// Joins a multicast group, or leaves it. An interface of 0 lets the kernel choose. Returns -1 with errno.
int runloops_change_group(int socket, const void *group, unsigned length, unsigned interface, bool joins);

/// Returns the number of datagrams that the kernel has discarded because the buffer of a socket was full; 0 if it does not say.
unsigned runloops_dropped_datagrams(int socket);

/// The memory into which one call receives several datagrams.
struct runloops_inbox;

/// The number of datagrams that one call receives or sends at most.
enum { runloops_most_datagrams = 32 };

/// Makes an inbox for datagrams of a number of bytes. Pages that are never received into take no memory. Returns NULL if there is
/// no memory.
struct runloops_inbox *runloops_make_inbox(size_t byte_limit);
void runloops_free_inbox(struct runloops_inbox *inbox);

/// Receives datagrams into an inbox, at most `limit` bytes of each, and replaces what it contains. `limit` is at most the byte
/// limit of the inbox. Never waits. Returns the number of datagrams, or -1 with errno.
int runloops_receive_datagrams(int socket, struct runloops_inbox *inbox, size_t limit);

/// A received datagram, in the memory of an inbox.
struct runloops_datagram {
    const void *bytes;
    size_t count;
    const void *address;
    unsigned address_length;
    /// True if the datagram was longer than the limit.
    bool is_cut;
};

/// Returns one of the datagrams that were received last.
struct runloops_datagram runloops_datagram_at(const struct runloops_inbox *inbox, int index);

/// A datagram to send: where its address begins in a store, followed by its bytes.
struct runloops_outgoing {
    size_t start;
    size_t address_length;
    size_t count;
};

/// Sends datagrams, at most `runloops_most_datagrams` of them. Never waits, and never raises SIGPIPE. Returns the number of
/// datagrams that were sent, which is not 0, or -1 with errno if the first one was not sent.
int runloops_send_datagrams(int socket, const uint8_t *store, const struct runloops_outgoing *list, int count);

/// Takes an error that the network has reported from the queue of a socket. `address` is that of the receiver of the datagram that
/// the error is about; the length is 0 if it is not known. Returns the error, or 0 if there is none.
int runloops_take_network_error(int socket, void *address, unsigned *length);
