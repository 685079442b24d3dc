#define _GNU_SOURCE
#include "streams_shim.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

_Static_assert(sizeof(struct sockaddr_storage) <= runloops_address_capacity, "an address fits");
_Static_assert(
    offsetof(struct sockaddr_in, sin_port) == runloops_port_offset
        && offsetof(struct sockaddr_in6, sin6_port) == runloops_port_offset,
    "the port has its place");

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

int runloops_resolve(const char *host, void *addresses, unsigned *lengths, int capacity, int *code) {
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
        lengths[count++] = next->ai_addrlen;
    }
    freeaddrinfo(found);
    return count;
}

const char *runloops_resolve_words(int code) { return gai_strerror(code); }
