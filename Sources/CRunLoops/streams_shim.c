#define _GNU_SOURCE
#include "streams_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

_Static_assert(
    sizeof(struct runloops_part) == sizeof(struct iovec) && offsetof(struct runloops_part, bytes) == offsetof(struct iovec, iov_base)
        && offsetof(struct runloops_part, count) == offsetof(struct iovec, iov_len),
    "a part is what the kernel takes");

static int failed(int socket, const char **call, const char *name) {
    int code = errno;
    close(socket);
    errno = code;
    *call = name;
    return -1;
}

static int open_stream(const void *address, const char **call) {
    *call = "socket";
    return socket(((const struct sockaddr *)address)->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int runloops_listen(
    const void *address, unsigned length, struct runloops_listen_options options, const char **call) {
    int listener = open_stream(address, call);
    if (listener == -1) return -1;
    int yes = 1, family = ((const struct sockaddr *)address)->sa_family;
    if (family != AF_UNIX) {
        if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == -1) return failed(listener, call, "setsockopt");
        if (options.reuses_port && setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) == -1)
            return failed(listener, call, "setsockopt");
    }
    if (family == AF_INET6) {
        int only = !options.takes_ipv4;
        if (setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) == -1)
            return failed(listener, call, "setsockopt");
    }
    if (bind(listener, address, length) == -1) return failed(listener, call, "bind");
    if (listen(listener, options.backlog) == -1) return failed(listener, call, "listen");
    return listener;
}

int runloops_lock_directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *parent = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (parent == NULL) return -1;
    int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    if (directory == -1) return -1;
    // A process that holds the lock must not prevent servers from starting.
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int attempt = 0; attempt < 1000; attempt++) {
        if (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
        nanosleep(&pause, NULL);
    }
    return directory;
}

bool runloops_path_is_stale(const void *address, unsigned length) {
    // The kernel also refuses to connect to a file of another kind, which must not be replaced.
    struct stat file;
    if (lstat(((const struct sockaddr_un *)address)->sun_path, &file) == -1 || !S_ISSOCK(file.st_mode)) return false;
    const char *call;
    int probe = open_stream(address, &call);
    if (probe == -1) return false;
    // The kernel connects to a live listener immediately, or reports that the listener's backlog is full.
    bool is_stale = connect(probe, address, length) == -1 && errno == ECONNREFUSED;
    close(probe);
    return is_stale;
}

int runloops_accept_stream(int listener, void *address, unsigned *length) {
    socklen_t room = runloops_address_capacity;
    int accepted = accept4(listener, address, &room, SOCK_NONBLOCK | SOCK_CLOEXEC);
    *length = room;
    return accepted;
}

int runloops_connect_stream(const void *address, unsigned length, bool *is_connected, const char **call) {
    int socket = open_stream(address, call);
    if (socket == -1) return -1;
    *is_connected = connect(socket, address, length) == 0;
    // After an interruption, the kernel continues to connect, as after EINPROGRESS.
    if (!*is_connected && errno != EINPROGRESS && errno != EINTR) return failed(socket, call, "connect");
    return socket;
}

int runloops_take_error(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == -1 ? errno : error;
}

int runloops_own_address(int socket, void *address, unsigned *length) {
    socklen_t room = runloops_address_capacity;
    int result = getsockname(socket, address, &room);
    *length = room;
    return result;
}

int runloops_peer_address(int socket, void *address, unsigned *length) {
    socklen_t room = runloops_address_capacity;
    int result = getpeername(socket, address, &room);
    *length = room;
    return result;
}

bool runloops_is_connected_to_itself(int socket) {
    struct sockaddr_storage own = {0}, peer = {0};
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    if (getsockname(socket, (struct sockaddr *)&own, &own_length) == -1 || own.ss_family == AF_UNIX) return false;
    if (getpeername(socket, (struct sockaddr *)&peer, &peer_length) == -1) return false;
    return own_length == peer_length && memcmp(&own, &peer, own_length) == 0;
}

static bool socket_flag(int descriptor, int option, int expected) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 && value == expected;
}

bool runloops_is_stream(int descriptor) { return socket_flag(descriptor, SO_TYPE, SOCK_STREAM); }
bool runloops_listens(int descriptor) { return socket_flag(descriptor, SO_ACCEPTCONN, 1); }

int runloops_make_non_blocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags == -1) return -1;
    return flags & O_NONBLOCK ? 0 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

void runloops_send_without_delay(int socket) {
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void runloops_keep_alive(int socket) {
    int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

void runloops_reset_when_closed(int socket) {
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

long runloops_send_parts(int socket, const struct runloops_part *parts, int count) {
    long sent;
    do {
        if (count == 1) {
            sent = send(socket, parts->bytes, parts->count, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
            struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
            sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
    } while (sent == -1 && errno == EINTR);
    return sent;
}

long runloops_receive_bytes(int socket, void *buffer, size_t capacity) {
    long received;
    do received = recv(socket, buffer, capacity, MSG_DONTWAIT);
    while (received == -1 && errno == EINTR);
    return received;
}

bool runloops_is_writable(int socket) {
    struct pollfd entry = {.fd = socket, .events = POLLOUT};
    return poll(&entry, 1, 0) > 0;
}

bool runloops_is_readable(int socket) {
    struct pollfd entry = {.fd = socket, .events = POLLIN};
    return poll(&entry, 1, 0) > 0;
}

bool runloops_is_at_end(int descriptor) {
    char byte;
    ssize_t count = recv(descriptor, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    if (count != -1 || errno != ENOTSOCK) return count == 0;
    // Nothing can be peeked at in a pipe or a terminal.
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    if (poll(&entry, 1, 0) != 1 || (entry.revents & POLLHUP) == 0) return false;
    int left = 0;
    return ioctl(descriptor, FIONREAD, &left) == 0 ? left == 0 : errno == EIO;
}

int runloops_end_sending(int socket) { return shutdown(socket, SHUT_WR); }

void runloops_raise_event(int event) { eventfd_write(event, 1); }

void runloops_lower_event(int event) {
    eventfd_t count;
    eventfd_read(event, &count);
}

bool runloops_file_at(const char *path, uint64_t identity[2]) {
    struct stat file;
    if (lstat(path, &file) == -1) return false;
    identity[0] = file.st_dev;
    identity[1] = file.st_ino;
    return true;
}
