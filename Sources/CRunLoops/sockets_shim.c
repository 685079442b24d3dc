#define _GNU_SOURCE
#include "sockets_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int runloops_socket(bool is_non_blocking) {
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (is_non_blocking ? SOCK_NONBLOCK : 0), 0);
}

int runloops_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

/// Writes an address, and returns its length; 0 with errno if the address has no room for the name.
static socklen_t make_address(struct sockaddr_un *address, const char *name, size_t length, bool is_abstract) {
    // A path ends with a zero, and an abstract name begins with one. The zero has to fit, too.
    if (length == 0 || length + 1 > sizeof(address->sun_path)) {
        errno = ENAMETOOLONG;
        return 0;
    }
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + (is_abstract ? 1 : 0), name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

int runloops_bind(int socket, const char *name, size_t length, bool is_abstract) {
    struct sockaddr_un address;
    socklen_t size = make_address(&address, name, length, is_abstract);
    return size == 0 ? -1 : bind(socket, (const struct sockaddr *)&address, size);
}

int runloops_connect(int socket, const char *name, size_t length, bool is_abstract, int64_t microseconds) {
    struct sockaddr_un address;
    socklen_t size = make_address(&address, name, length, is_abstract);
    if (size == 0) return -1;
    struct timeval time = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000};
    if (setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) != 0) return -1;
    return connect(socket, (const struct sockaddr *)&address, size);
}

int runloops_set_blocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -1;
    return fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
}

// This option is newer than the headers of many systems. A few architectures number their options differently, and do without it.
#if !defined(SO_PASSRIGHTS) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__) || \
                                defined(__riscv))
#define SO_PASSRIGHTS 83
#endif

int runloops_allow_descriptors(int socket, bool allows) {
#if defined(SO_PASSRIGHTS)
    int value = allows;
    return setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof(value));
#else
    (void)socket, (void)allows;
    errno = ENOPROTOOPT;
    return -1;
#endif
}

int runloops_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int runloops_peer_of(int socket, struct runloops_peer *peer) {
    struct ucred credentials;
    socklen_t size = sizeof(credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
    peer->process = credentials.pid;
    peer->user = credentials.uid;
    peer->group = credentials.gid;
    return 0;
}

int runloops_sending_space(int socket) {
    int bytes = 0;
    socklen_t size = sizeof(bytes);
    return getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, &size) != 0 ? -1 : bytes;
}

int runloops_set_sending_space(int socket, int bytes) {
    // The kernel sets aside twice the size that it is asked for, to make room for its own records.
    bytes /= 2;
    return setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/// Room for the descriptors of one packet, aligned as the kernel wants it.
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * runloops_most_descriptors)];
};

long runloops_send(
    int socket, const void *head, size_t head_length, const void *body, size_t body_length, const int *descriptors,
    size_t descriptor_count) {
    struct iovec parts[2] = {
        {.iov_base = (void *)head, .iov_len = head_length}, {.iov_base = (void *)body, .iov_len = body_length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = body_length == 0 ? 1 : 2};
    union control control;
    if (descriptor_count > 0) {
        if (descriptor_count > runloops_most_descriptors) {
            errno = EINVAL;
            return -1;
        }
        size_t size = sizeof(int) * descriptor_count;
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent;
}

/// Receives, or peeks at, one packet. Tries again after an error that says nothing about the packet.
static ssize_t receive_packet(int socket, struct msghdr *message, int flags) {
    bool was_reset = false;
    while (true) {
        size_t control_length = message->msg_controllen;
        ssize_t length = recvmsg(socket, message, flags);
        if (length >= 0 || (errno != EINTR && (errno != ECONNRESET || was_reset))) return length;
        // The other end has closed without reading everything that was sent to it. The kernel reports that once, and before the
        // packets that the other end had sent.
        was_reset = errno == ECONNRESET;
        message->msg_controllen = control_length;
    }
}

/// Lists the descriptors that arrived with a packet. They are open already.
static size_t list_descriptors(struct msghdr *message, int descriptors[runloops_most_descriptors]) {
    size_t count = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t size = header->cmsg_len - CMSG_LEN(0);
        // The kernel puts all descriptors into one header, and at most as many as there is room for.
        for (size_t place = 0; place + sizeof(int) <= size && count < runloops_most_descriptors; place += sizeof(int)) {
            memcpy(&descriptors[count++], CMSG_DATA(header) + place, sizeof(int));
        }
    }
    return count;
}

int runloops_receive(
    int socket, bool waits, int permitted, void *buffer, size_t capacity,
    int descriptors[runloops_most_descriptors], struct runloops_packet *packet) {
    union control control;
    *packet = (struct runloops_packet){0};
    // MSG_TRUNC: the result is the packet's length, not the number of bytes that fit.
    int flags = MSG_CMSG_CLOEXEC | MSG_TRUNC | (waits ? 0 : MSG_DONTWAIT);
    if (permitted >= 0) {
        // recvmsg closes the descriptors that it has no room for, on this thread. During the peek, the kernel's queue keeps the
        // packet with its descriptors, so nothing is closed for good.
        struct msghdr peek = {0};
        if (permitted > 0) {
            peek.msg_control = control.bytes;
            peek.msg_controllen = CMSG_LEN(sizeof(int) * (size_t)permitted);
        }
        ssize_t length = receive_packet(socket, &peek, flags | MSG_PEEK);
        if (length < 0) return -1;
        packet->length = (size_t)length;
        packet->descriptor_count = permitted > 0 ? list_descriptors(&peek, descriptors) : 0;
        if ((peek.msg_flags & MSG_CTRUNC) != 0) {
            bool has_all = packet->descriptor_count == (size_t)permitted;
            packet->exceeds_permitted = has_all;
            packet->lacks_descriptors = !has_all;
            return 0;
        }
        flags |= MSG_DONTWAIT;
    }
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (permitted < 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
    }
    ssize_t length = receive_packet(socket, &message, flags);
    if (length < 0) {
        int code = errno;
        // Nothing was received. The descriptors that the peek opened are duplicates, and the packet keeps its own.
        for (size_t place = 0; place < packet->descriptor_count; place++) close(descriptors[place]);
        packet->descriptor_count = 0;
        errno = code;
        return -1;
    }
    packet->length = (size_t)length;
    packet->lacks_bytes = (message.msg_flags & MSG_TRUNC) != 0;
    if (permitted < 0) {
        packet->lacks_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
        packet->descriptor_count = list_descriptors(&message, descriptors);
    }
    return 0;
}

bool runloops_is_drained(int socket) {
    // recvmsg reports an empty packet and the end alike. If the socket reports times, only a packet has a time.
    int value = 1;
    if (setsockopt(socket, SOL_SOCKET, SO_TIMESTAMP, &value, sizeof(value)) != 0) return false;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct timeval))];
    } control;
    struct msghdr peek = {.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
    ssize_t length = receive_packet(socket, &peek, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    // A socket that was never connected has received nothing.
    if (length < 0) return errno == ENOTCONN;
    return length == 0 && peek.msg_controllen == 0 && (peek.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
}

size_t runloops_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return limit.rlim_cur > INT_MAX ? INT_MAX : (size_t)limit.rlim_cur;
}

bool runloops_has_free_descriptors(void) {
    struct pollfd entries[2 * runloops_most_descriptors];
    const size_t count = sizeof(entries) / sizeof(entries[0]);
    size_t limit = runloops_descriptor_limit();
    if (limit < count) return false;
    for (size_t place = 0; place < count; place++) {
        entries[place] = (struct pollfd){.fd = (int)(limit - 1 - place)};
    }
    if (poll(entries, count, 0) != (int)count) return false;
    for (size_t place = 0; place < count; place++) {
        if (entries[place].revents != POLLNVAL) return false;
    }
    return true;
}

int64_t runloops_coarse_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int runloops_wait_for_socket(int socket, enum runloops_awaited event, int64_t nanoseconds) {
    static const short events[] = {
        [runloops_wait_to_read] = POLLIN | POLLRDHUP,
        [runloops_wait_to_write] = POLLOUT,
        [runloops_wait_for_end] = POLLRDHUP,
    };
    struct pollfd entry = {.fd = socket, .events = events[event]};
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int ready = ppoll(&entry, 1, nanoseconds < 0 ? NULL : &time, NULL);
    return ready < 0 ? -1 : ready == 0;
}

bool runloops_has_hung_up(int socket) {
    struct pollfd entry = {.fd = socket, .events = POLLRDHUP};
    int ready;
    do ready = poll(&entry, 1, 0);
    while (ready < 0 && errno == EINTR);
    return ready > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
