#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datagrams_shim.h"
#include "send_file_shim.h"

/// The maximum number of bytes of the address of a socket, in the kernel's representation.
enum { runloops_address_capacity = 128 };

/// The maximum number of bytes of the text of an IP address, with its scope and the zero at its end.
enum { runloops_address_text = 128 };

/// The offset of the port in an IP address, most significant byte first.
enum { runloops_port_offset = 2 };

/// The kind of an address.
enum runloops_address_kind {
    runloops_address_other,
    runloops_address_ipv4,
    runloops_address_ipv6,
    /// The path of a socket in the file system.
    runloops_address_path,
    /// A name outside the file system, which begins after the first byte of the path.
    runloops_address_abstract,
    /// A Unix socket without a name.
    runloops_address_unnamed,
};

/// Makes the address of a numeric host. Returns its length; 0 if the text is not a numeric address.
unsigned runloops_ip_address(const char *host, uint16_t port, void *address);

/// Makes the address of a Unix socket, from a path or an abstract name. Returns its length; 0 if the name is too long or empty.
unsigned runloops_unix_address(const char *name, size_t length, bool is_abstract, void *address);

/// Returns the kind of an address.
enum runloops_address_kind runloops_kind_of_address(const void *address, unsigned length);

/// Returns the port of an IP address.
uint16_t runloops_port_of_address(const void *address, unsigned length);

/// Writes an IP address as text, with the scope but without the port. Returns false if the address is not an IP address.
bool runloops_host_of_address(const void *address, unsigned length, char text[runloops_address_text]);

/// Writes the bytes that distinguish peers: an IPv4 address in IPv6 form, or the network of an IPv6 address, which is its first 64
/// bits. A host may use any address of that network.
bool runloops_peer_key(const void *address, unsigned length, uint8_t key[16]);

/// The offset of the path, or of the abstract name, in the address of a Unix socket.
unsigned runloops_path_offset(void);

/// Resolves a name. Blocks. Fills at most `capacity` addresses of `runloops_address_capacity` bytes each with the port 0, and their lengths.
/// Returns their number, or an `EAI` code, which is negative; with EAI_SYSTEM, `*code` is the errno.
int runloops_resolve(const char *host, void *addresses, unsigned *lengths, int capacity, int *code);

/// Returns the words of the system for an `EAI` code.
const char *runloops_resolve_words(int code);

/// The settings of a listener.
struct runloops_listen_options {
    int backlog;
    bool reuses_port;
    /// True if an IPv6 socket takes IPv4 connections, too.
    bool takes_ipv4;
};

/// Opens a socket that listens, non-blocking and close-on-exec. Returns -1 with errno, and nothing open; `*call` is the name
/// of the call that failed.
int runloops_listen(
    const void *address, unsigned length, struct runloops_listen_options options, const char **call);

/// Locks the directory of a path, so that only one listener at a time replaces the file of a listener that has ended. Returns its
/// descriptor, which holds the lock until it is closed; -1 if the directory cannot be opened. Waits for the lock for at most a
/// second, and then continues without it.
int runloops_lock_directory_of(const char *path);

/// True if no process listens at the path of a Unix socket any more.
bool runloops_path_is_stale(const void *address, unsigned length);

/// Accepts a connection, non-blocking and close-on-exec, with the address of its peer. Returns -1 with errno.
int runloops_accept_stream(int listener, void *address, unsigned *length);

/// Opens a socket, non-blocking and close-on-exec, and begins to connect it. Returns -1 with errno; otherwise sets `*is_connected`.
int runloops_connect_stream(const void *address, unsigned length, bool *is_connected, const char **call);

/// Returns the error of a socket, and clears it; 0 for none.
int runloops_take_error(int socket);

/// True if both ends of a TCP connection are this socket.
bool runloops_is_connected_to_itself(int socket);

/// Gets the local address of a socket, or the address of its peer. Returns -1 with errno.
int runloops_own_address(int socket, void *address, unsigned *length);
int runloops_peer_address(int socket, void *address, unsigned *length);

/// True if a descriptor is a stream socket.
bool runloops_is_stream(int descriptor);
/// True if a descriptor is a socket that listens.
bool runloops_listens(int descriptor);

/// Makes a descriptor non-blocking. Returns -1 with errno.
int runloops_make_non_blocking(int descriptor);

/// Makes a socket send each write immediately. Errors are ignored, because a Unix socket always does that.
void runloops_send_without_delay(int socket);

/// Makes the kernel probe the peer of an idle TCP connection (keep-alive).
void runloops_keep_alive(int socket);

/// Makes the later closing of a socket reset the connection.
void runloops_reset_when_closed(int socket);

/// One part of the bytes that are sent in one call.
struct runloops_part {
    const void *bytes;
    size_t count;
};

/// The maximum number of parts that one call sends.
enum { runloops_most_parts = 64 };

/// Sends parts, one after the other. Never waits, and never raises SIGPIPE. Returns the number of bytes, or -1 with errno.
long runloops_send_parts(int socket, const struct runloops_part *parts, int count);

/// Writes parts to a descriptor that is not a socket, and never raises SIGPIPE. Returns the number of bytes, or -1 with errno.
long runloops_write_parts(int descriptor, const struct runloops_part *parts, int count);

/// Reads bytes from a descriptor that is not a socket. Returns their number, 0 at the end, or -1 with errno.
long runloops_read_bytes(int descriptor, void *buffer, size_t capacity);

/// The kinds of descriptors that a connection can get.
enum runloops_stream_kind {
    /// The descriptor is not open.
    runloops_stream_none,
    runloops_stream_socket,
    /// A pipe, a terminal, or another device that can be waited for.
    runloops_stream_device,
    /// The null device, which is always at its end, and cannot be waited for.
    runloops_stream_null,
    runloops_stream_file,
    runloops_stream_other,
};

/// Returns the kind of a descriptor.
enum runloops_stream_kind runloops_kind_of_stream(int descriptor);

/// True if a descriptor can be read from, or written to.
bool runloops_is_for_reading(int descriptor);
bool runloops_is_for_writing(int descriptor);

/// Receives bytes. Never waits. Returns their number, 0 at the end of the stream, or -1 with errno.
long runloops_receive_bytes(int socket, void *buffer, size_t capacity);

/// True if a socket is writable, or has failed: an attempt to connect has then ended.
bool runloops_is_writable(int socket);

/// True if a socket has received bytes, the end of the stream or an error.
bool runloops_is_readable(int socket);

/// True if the peer has ended its stream, and no byte of it is left to receive.
bool runloops_is_at_end(int descriptor);

/// Ends sending, so that the peer reads the end of the stream after all sent bytes.
int runloops_end_sending(int socket);

/// Makes an event descriptor readable, or no longer readable.
void runloops_raise_event(int event);
void runloops_lower_event(int event);

/// Gets the identity of the file at a path, which differs from that of a later file at the path. Returns false if there is no file.
bool runloops_file_at(const char *path, uint64_t identity[2]);
