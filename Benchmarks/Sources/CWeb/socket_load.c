#define _GNU_SOURCE
#include "web.h"

#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char hand_shake[] =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

enum { longest_head = 14 };

typedef struct {
    int socket;
    size_t count;
    uint8_t *bytes;
} client;

struct bench_sockets {
    int epoll;
    int32_t count;
    // The message, as each client sends it and as the server sends it back.
    size_t sent_length, answer_length;
    uint8_t *sent, *answer;
    client clients[];
};

/// Writes the head of a frame with a binary message, and returns its length.
static size_t write_head(uint8_t *head, size_t length, uint8_t masked) {
    head[0] = 0x82;
    if (length < 126) {
        head[1] = masked | (uint8_t)length;
        return 2;
    }
    int bytes = length < 65536 ? 2 : 8;
    head[1] = masked | (bytes == 2 ? 126 : 127);
    for (int i = 0; i < bytes; i++) head[2 + i] = (uint8_t)(length >> (8 * (bytes - 1 - i)));
    return 2 + (size_t)bytes;
}

static bool send_all(int socket, const void *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = send(socket, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = (const uint8_t *)bytes + count;
        length -= (size_t)count;
    }
    return true;
}

/// Shakes hands, and reads up to the end of the answer's header, behind which the server sends nothing.
static bool shake_hands(int socket) {
    char answer[1024];
    size_t count = 0;
    if (!send_all(socket, hand_shake, sizeof hand_shake - 1)) return false;
    while (count < sizeof answer - 1) {
        ssize_t more = recv(socket, answer + count, sizeof answer - 1 - count, 0);
        if (more <= 0) return false;
        count += (size_t)more;
        answer[count] = 0;
        if (strstr(answer, "\r\n\r\n")) return strncmp(answer, "HTTP/1.1 101 ", 13) == 0;
    }
    return false;
}

/// Receives bytes of a message. Returns 1 if it is complete, 0 if bytes are missing, and -1 if a byte is wrong.
static int receive(const bench_sockets *sockets, client *each) {
    ssize_t count =
        recv(each->socket, each->bytes + each->count, sockets->answer_length + 1 - each->count, MSG_DONTWAIT);
    if (count <= 0) return count < 0 && errno == EAGAIN ? 0 : -1;
    each->count += (size_t)count;
    if (each->count < sockets->answer_length) return 0;
    if (each->count > sockets->answer_length) return -1;
    each->count = 0;
    return memcmp(each->bytes, sockets->answer, sockets->answer_length) == 0 ? 1 : -1;
}

bench_sockets *bench_sockets_connect(uint16_t port, int32_t count, int32_t length) {
    static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    bench_sockets *sockets = calloc(1, sizeof *sockets + (size_t)count * sizeof(client));
    if (!sockets) return NULL;
    sockets->epoll = epoll_create1(EPOLL_CLOEXEC);
    sockets->sent = malloc((size_t)length + longest_head);
    sockets->answer = malloc((size_t)length + longest_head);
    size_t head = write_head(sockets->answer, (size_t)length, 0), sent = write_head(sockets->sent, (size_t)length, 0x80);
    memcpy(sockets->sent + sent, mask, sizeof mask);
    sent += sizeof mask;
    for (int32_t i = 0; i < length; i++) {
        sockets->answer[head + (size_t)i] = (uint8_t)(i * 7);
        sockets->sent[sent + (size_t)i] = (uint8_t)(i * 7) ^ mask[i % 4];
    }
    sockets->answer_length = head + (size_t)length;
    sockets->sent_length = sent + (size_t)length;
    for (int32_t i = 0; i < count; i++) {
        client *each = &sockets->clients[i];
        each->socket = bench_ping_connect(port);
        each->bytes = malloc(sockets->answer_length + 1);
        sockets->count++;
        struct epoll_event interest = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        if (each->socket < 0 || !shake_hands(each->socket)
            || epoll_ctl(sockets->epoll, EPOLL_CTL_ADD, each->socket, &interest) != 0) {
            bench_sockets_leave(sockets);
            return NULL;
        }
    }
    return sockets;
}

void bench_sockets_leave(bench_sockets *sockets) {
    while (sockets->count > 0) {
        client *each = &sockets->clients[--sockets->count];
        if (each->socket >= 0) close(each->socket);
        free(each->bytes);
    }
    close(sockets->epoll);
    free(sockets->sent);
    free(sockets->answer);
    free(sockets);
}

bool bench_sockets_ask(bench_sockets *sockets, int32_t messages) {
    int32_t asked = 0, answered = 0;
    for (; asked < sockets->count && asked < messages; asked++)
        if (!send_all(sockets->clients[asked].socket, sockets->sent, sockets->sent_length)) return false;
    while (answered < messages) {
        struct epoll_event events[64];
        int ready = epoll_wait(sockets->epoll, events, 64, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        for (int i = 0; i < ready; i++) {
            client *each = &sockets->clients[events[i].data.u32];
            int complete = receive(sockets, each);
            if (complete < 0) return false;
            if (complete == 0) continue;
            answered++;
            if (asked == messages) continue;
            if (!send_all(each->socket, sockets->sent, sockets->sent_length)) return false;
            asked++;
        }
    }
    return true;
}
