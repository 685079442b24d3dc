#define _GNU_SOURCE
#include "streams_shim.h"

#include <errno.h>
#include <limits.h>
#include <time.h>
// This header needs the one before it.
#include <linux/errqueue.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool set(int socket, int level, int option, int value) {
    return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

static bool configure(int socket, int family, struct runloops_datagram_options options) {
    if (options.receive_buffer >= 0 && !set(socket, SOL_SOCKET, SO_RCVBUF, options.receive_buffer)) return false;
    if (options.send_buffer >= 0 && !set(socket, SOL_SOCKET, SO_SNDBUF, options.send_buffer)) return false;
    if (family == AF_UNIX) return true;
    if (options.reuses_port && !set(socket, SOL_SOCKET, SO_REUSEPORT, 1)) return false;
    if (options.sends_broadcasts && !set(socket, SOL_SOCKET, SO_BROADCAST, 1)) return false;
    bool is_ipv6 = family == AF_INET6;
    if (is_ipv6 && !set(socket, IPPROTO_IPV6, IPV6_V6ONLY, !options.takes_ipv4)) return false;
    if (options.multicast_hops >= 0) {
        if (is_ipv6 && !set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, options.multicast_hops)) return false;
        if ((!is_ipv6 || options.takes_ipv4) && !set(socket, IPPROTO_IP, IP_MULTICAST_TTL, options.multicast_hops)) return false;
    }
    if (options.multicast_interface >= 0) {
        if (is_ipv6 && !set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, options.multicast_interface)) return false;
        struct ip_mreqn interface = {.imr_ifindex = options.multicast_interface};
        if ((!is_ipv6 || options.takes_ipv4)
            && setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &interface, sizeof interface) == -1)
            return false;
    }
    runloops_queue_network_errors(socket);
    return true;
}

static int failed(int socket, const char **call, const char *name) {
    int code = errno;
    close(socket);
    errno = code;
    *call = name;
    return -1;
}

int runloops_open_datagrams(
    int family, const void *address, unsigned length, struct runloops_datagram_options options, const char **call) {
    *call = "socket";
    int opened = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (opened == -1) return -1;
    if (!configure(opened, family, options)) return failed(opened, call, "setsockopt");
    // An address that is only a family lets the kernel choose an abstract name.
    struct sockaddr unnamed = {.sa_family = AF_UNIX};
    bool chooses_name = length == 0 && family == AF_UNIX;
    if (chooses_name && bind(opened, &unnamed, sizeof unnamed.sa_family) == -1) return failed(opened, call, "bind");
    if (length > 0 && bind(opened, address, length) == -1) return failed(opened, call, "bind");
    return opened;
}

int runloops_connect_datagrams(int socket, const void *address, unsigned length) { return connect(socket, address, length); }

void runloops_queue_network_errors(int socket) {
    // An IPv6 socket that takes IPv4 datagrams needs both; each is refused for the other family.
    set(socket, IPPROTO_IP, IP_RECVERR, 1);
    set(socket, IPPROTO_IPV6, IPV6_RECVERR, 1);
}

bool runloops_is_for_datagrams(int descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
}

int runloops_family_of_address(const void *address, unsigned length) {
    return length < sizeof(sa_family_t) ? AF_UNSPEC : ((const struct sockaddr *)address)->sa_family;
}

unsigned runloops_interface_index(const char *name) { return if_nametoindex(name); }

int runloops_change_group(int socket, const void *group, unsigned length, unsigned interface, bool joins) {
    struct group_req request = {.gr_interface = interface};
    memcpy(&request.gr_group, group, length);
    int level = request.gr_group.ss_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    return setsockopt(socket, level, joins ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP, &request, sizeof request);
}

unsigned runloops_dropped_datagrams(int socket) {
    unsigned facts[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof facts;
    return getsockopt(socket, SOL_SOCKET, SO_MEMINFO, facts, &length) == 0 ? facts[SK_MEMINFO_DROPS] : 0;
}

struct runloops_inbox {
    size_t limit;
    /// The number of datagrams that were received last.
    int count;
    uint8_t *bytes;
    struct mmsghdr headers[runloops_most_datagrams];
    struct iovec parts[runloops_most_datagrams];
    uint8_t addresses[runloops_most_datagrams][runloops_address_capacity];
};

struct runloops_inbox *runloops_make_inbox(size_t byte_limit) {
    // The datagrams begin at different lines of a page, or they would all take the same place in the cache of the processor.
    size_t stride = (byte_limit + 63) / 64 * 64 + 64;
    struct runloops_inbox *inbox = calloc(1, sizeof *inbox);
    if (inbox == NULL) return NULL;
    inbox->bytes = malloc(stride * runloops_most_datagrams);
    if (inbox->bytes == NULL) {
        free(inbox);
        return NULL;
    }
    inbox->limit = byte_limit;
    for (int index = 0; index < runloops_most_datagrams; index++) {
        inbox->parts[index] = (struct iovec){inbox->bytes + stride * (size_t)index, byte_limit};
        inbox->headers[index].msg_hdr = (struct msghdr){
            .msg_name = inbox->addresses[index],
            .msg_namelen = runloops_address_capacity,
            .msg_iov = &inbox->parts[index],
            .msg_iovlen = 1,
        };
    }
    return inbox;
}

void runloops_free_inbox(struct runloops_inbox *inbox) {
    free(inbox->bytes);
    free(inbox);
}

int runloops_receive_datagrams(int socket, struct runloops_inbox *inbox, size_t limit) {
    if (limit != inbox->limit) {
        inbox->limit = limit;
        for (int index = 0; index < runloops_most_datagrams; index++) inbox->parts[index].iov_len = limit;
    }
    // The kernel has replaced the lengths of the addresses, which say before a call how much room there is.
    for (int index = 0; index < inbox->count; index++) inbox->headers[index].msg_hdr.msg_namelen = runloops_address_capacity;
    inbox->count = 0;
    int count;
    do count = recvmmsg(socket, inbox->headers, runloops_most_datagrams, MSG_DONTWAIT, NULL);
    while (count == -1 && errno == EINTR);
    if (count > 0) inbox->count = count;
    return count;
}

struct runloops_datagram runloops_datagram_at(const struct runloops_inbox *inbox, int index) {
    const struct mmsghdr *header = &inbox->headers[index];
    struct runloops_datagram datagram = {
        .bytes = inbox->parts[index].iov_base,
        .count = header->msg_len,
        .address = inbox->addresses[index],
        .address_length = header->msg_hdr.msg_namelen,
        .is_cut = (header->msg_hdr.msg_flags & MSG_TRUNC) != 0,
    };
    return datagram;
}

int runloops_send_datagrams(int socket, const uint8_t *store, const struct runloops_outgoing *list, int count) {
    struct mmsghdr headers[runloops_most_datagrams];
    struct iovec parts[runloops_most_datagrams];
    if (count > runloops_most_datagrams) count = runloops_most_datagrams;
    for (int index = 0; index < count; index++) {
        uint8_t *address = (uint8_t *)store + list[index].start;
        size_t address_length = list[index].address_length;
        parts[index] = (struct iovec){address + address_length, list[index].count};
        headers[index] = (struct mmsghdr){.msg_hdr = {
            .msg_name = address_length > 0 ? address : NULL,
            .msg_namelen = (socklen_t)address_length,
            .msg_iov = &parts[index],
            .msg_iovlen = 1,
        }};
    }
    int sent;
    do sent = sendmmsg(socket, headers, (unsigned)count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent == -1 && errno == EINTR);
    return sent;
}

int runloops_take_network_error(int socket, void *address, unsigned *length) {
    *length = 0;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6)) + 256];
    } control;
    // The entries that are passed over are errors of this machine, which the call that sent the datagram has returned, too.
    for (int attempt = 0; attempt < 64; attempt++) {
        struct msghdr message = {
            .msg_name = address,
            .msg_namelen = runloops_address_capacity,
            .msg_control = &control,
            .msg_controllen = sizeof control,
        };
        long received;
        do received = recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
        while (received == -1 && errno == EINTR);
        if (received == -1) return 0;
        for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
            bool is_ipv4 = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
            bool is_ipv6 = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR;
            if (!is_ipv4 && !is_ipv6) continue;
            struct sock_extended_err error;
            memcpy(&error, CMSG_DATA(part), sizeof error);
            if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) continue;
            if (error.ee_errno == 0) continue;
            *length = message.msg_namelen;
            return (int)error.ee_errno;
        }
    }
    return 0;
}
