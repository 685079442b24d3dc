#define _GNU_SOURCE
#include "streams_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// These calls have no flag like MSG_NOSIGNAL. So the signal is blocked during the call, and taken away if the call has raised it.
struct blocked_signal {
    sigset_t before;
    bool was_pending;
};

static struct blocked_signal block_broken_pipe(void) {
    struct blocked_signal blocked;
    sigset_t broken_pipe, pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    sigpending(&pending);
    blocked.was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &blocked.before);
    return blocked;
}

/// Keeps errno.
static void unblock_broken_pipe(const struct blocked_signal *blocked, long result) {
    int code = errno;
    if (result == -1 && code == EPIPE && !blocked->was_pending) {
        sigset_t broken_pipe;
        sigemptyset(&broken_pipe);
        sigaddset(&broken_pipe, SIGPIPE);
        struct timespec none = {0, 0};
        while (sigtimedwait(&broken_pipe, NULL, &none) == -1 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &blocked->before, NULL);
    errno = code;
}

long runloops_send_file(int socket, int file, int64_t offset, size_t count) {
    struct blocked_signal blocked = block_broken_pipe();
    off_t position = offset;
    long sent;
    do sent = sendfile(socket, file, &position, count);
    while (sent == -1 && errno == EINTR);
    unblock_broken_pipe(&blocked, sent);
    return sent;
}

long runloops_write_parts(int descriptor, const struct runloops_part *parts, int count) {
    struct blocked_signal blocked = block_broken_pipe();
    long written;
    do written = writev(descriptor, (const struct iovec *)parts, count);
    while (written == -1 && errno == EINTR);
    unblock_broken_pipe(&blocked, written);
    return written;
}

long runloops_read_bytes(int descriptor, void *buffer, size_t capacity) {
    long received;
    do received = read(descriptor, buffer, capacity);
    while (received == -1 && errno == EINTR);
    return received;
}

enum runloops_stream_kind runloops_kind_of_stream(int descriptor) {
    struct stat file;
    if (fstat(descriptor, &file) == -1) return runloops_stream_none;
    if (S_ISSOCK(file.st_mode)) return runloops_stream_socket;
    if (S_ISFIFO(file.st_mode)) return runloops_stream_device;
    if (S_ISREG(file.st_mode)) return runloops_stream_file;
    if (!S_ISCHR(file.st_mode)) return runloops_stream_other;
    return file.st_rdev == makedev(1, 3) ? runloops_stream_null : runloops_stream_device;
}

bool runloops_is_for_reading(int descriptor) { return (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_WRONLY; }
bool runloops_is_for_writing(int descriptor) { return (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY; }
