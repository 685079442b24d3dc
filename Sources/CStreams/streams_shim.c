#define _GNU_SOURCE
#include "streams_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct sockaddr_storage) <= runloops_address_capacity, "an address fits");
_Static_assert(
    sizeof(struct runloops_part) == sizeof(struct iovec) && offsetof(struct runloops_part, bytes) == offsetof(struct iovec, iov_base)
        && offsetof(struct runloops_part, count) == offsetof(struct iovec, iov_len),
    "a part is what the kernel takes");

unsigned runloops_ip_address(const char *host, uint16_t port, void *address) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(host, NULL, &hints, &found) != 0) return 0;
    unsigned length = found->ai_addrlen;
    memcpy(address, found->ai_addr, length);
    freeaddrinfo(found);
    if (((struct sockaddr *)address)->sa_family == AF_INET) {
        ((struct sockaddr_in *)address)->sin_port = htons(port);
    } else {
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
    }
    return length;
}

unsigned runloops_unix_address(const char *name, size_t length, bool is_abstract, void *address) {
    struct sockaddr_un *un = address;
    // A path ends with a zero, an abstract name begins with one.
    if (length == 0 || length + 1 > sizeof un->sun_path) return 0;
    memset(un, 0, sizeof *un);
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path + is_abstract, name, length);
    return (unsigned)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

enum runloops_address_kind runloops_kind_of_address(const void *address, unsigned length) {
    if (length < sizeof(sa_family_t)) return runloops_address_other;
    switch (((const struct sockaddr *)address)->sa_family) {
    case AF_INET: return length >= sizeof(struct sockaddr_in) ? runloops_address_ipv4 : runloops_address_other;
    case AF_INET6: return length >= sizeof(struct sockaddr_in6) ? runloops_address_ipv6 : runloops_address_other;
    case AF_UNIX:
        if (length <= offsetof(struct sockaddr_un, sun_path)) return runloops_address_unnamed;
        return ((const struct sockaddr_un *)address)->sun_path[0] ? runloops_address_path : runloops_address_abstract;
    default: return runloops_address_other;
    }
}

uint16_t runloops_port_of_address(const void *address, unsigned length) {
    switch (runloops_kind_of_address(address, length)) {
    case runloops_address_ipv4: return ntohs(((const struct sockaddr_in *)address)->sin_port);
    case runloops_address_ipv6: return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    default: return 0;
    }
}

bool runloops_host_of_address(const void *address, unsigned length, char text[runloops_address_text]) {
    return getnameinfo(address, length, text, runloops_address_text, NULL, 0, NI_NUMERICHOST) == 0;
}

bool runloops_peer_key(const void *address, unsigned length, uint8_t key[16]) {
    switch (runloops_kind_of_address(address, length)) {
    case runloops_address_ipv4:
        memset(key, 0, 10);
        memset(key + 10, 0xff, 2);
        memcpy(key + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
        return true;
    case runloops_address_ipv6: {
        const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
        // The whole address is compared where its first half is the same for all peers.
        bool is_whole = IN6_IS_ADDR_V4MAPPED(host) || IN6_IS_ADDR_LINKLOCAL(host) || IN6_IS_ADDR_LOOPBACK(host);
        memset(key, 0, 16);
        memcpy(key, host, is_whole ? 16 : 8);
        return true;
    }
    default: return false;
    }
}

unsigned runloops_path_offset(void) { return offsetof(struct sockaddr_un, sun_path); }

int runloops_resolve(
    const char *host, uint16_t port, void *addresses, unsigned *lengths, int capacity, int *code) {
    struct addrinfo hints = {.ai_flags = AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int result = getaddrinfo(host, NULL, &hints, &found);
    if (result == EAI_NONAME || result == EAI_ADDRFAMILY) {
        // AI_ADDRCONFIG hides the loopback addresses of a machine without other addresses.
        hints.ai_flags = 0;
        result = getaddrinfo(host, NULL, &hints, &found);
    }
    if (result != 0) {
        *code = result == EAI_SYSTEM ? errno : 0;
        return result < 0 ? result : -result;
    }
    int count = 0;
    for (struct addrinfo *next = found; next && count < capacity; next = next->ai_next) {
        if (next->ai_family != AF_INET && next->ai_family != AF_INET6) continue;
        char *place = (char *)addresses + (size_t)count * runloops_address_capacity;
        memcpy(place, next->ai_addr, next->ai_addrlen);
        if (next->ai_family == AF_INET) {
            ((struct sockaddr_in *)place)->sin_port = htons(port);
        } else {
            ((struct sockaddr_in6 *)place)->sin6_port = htons(port);
        }
        lengths[count++] = next->ai_addrlen;
    }
    freeaddrinfo(found);
    return count;
}

const char *runloops_resolve_words(int code) { return gai_strerror(code); }

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

bool runloops_is_at_end(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
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
