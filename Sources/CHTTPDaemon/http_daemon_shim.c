#define _GNU_SOURCE
#include "http_daemon_shim.h"

#include <microhttpd.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct runloops_daemon {
    struct MHD_Daemon *daemon;
    struct runloops_daemon_callbacks callbacks;
    void *context;
};

static struct MHD_Connection *connection_of(struct runloops_link *link) { return (struct MHD_Connection *)link; }
static struct runloops_link *link_of(struct MHD_Connection *connection) { return (struct runloops_link *)connection; }
static struct MHD_Response *response_of(struct runloops_answer *answer) { return (struct MHD_Response *)answer; }
static struct runloops_answer *answer_of(struct MHD_Response *response) { return (struct runloops_answer *)response; }

static void notify_connection(
    void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code) {
    struct runloops_daemon *daemon = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *state = daemon->callbacks.opened(link_of(connection), daemon->context);
    } else if (*state != NULL) {
        daemon->callbacks.closed(*state, daemon->context);
        *state = NULL;
    }
}

static void *notify_target(void *context, const char *target, struct MHD_Connection *connection) {
    struct runloops_daemon *daemon = context;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return daemon->callbacks.began(info->socket_context, target);
}

static enum MHD_Result proceed(
    void *context, struct MHD_Connection *connection, const char *path, const char *method, const char *version,
    const char *bytes, size_t *count, void **state) {
    (void)connection, (void)path;
    struct runloops_daemon *daemon = context;
    if (*state == NULL) return MHD_NO;
    return daemon->callbacks.proceed(*state, method, version, bytes, count) ? MHD_YES : MHD_NO;
}

static void notify_end(
    void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
    (void)connection;
    struct runloops_daemon *daemon = context;
    if (*state == NULL) return;
    enum runloops_end reason = runloops_failed;
    switch (code) {
    case MHD_REQUEST_TERMINATED_COMPLETED_OK: reason = runloops_sent; break;
    case MHD_REQUEST_TERMINATED_TIMEOUT_REACHED: reason = runloops_timed_out; break;
    case MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN: reason = runloops_daemon_stopped; break;
    case MHD_REQUEST_TERMINATED_READ_ERROR:
    case MHD_REQUEST_TERMINATED_CLIENT_ABORT: reason = runloops_client_left; break;
    case MHD_REQUEST_TERMINATED_WITH_ERROR: break;
    }
    daemon->callbacks.ended(*state, reason);
    *state = NULL;
}

/// Leaves a text unchanged: the server parses the target itself.
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    size_t count = 0;
    while (text[count] != 0) count++;
    return count;
}

struct runloops_daemon *runloops_daemon_new(
    const struct runloops_daemon_settings *settings, const struct runloops_daemon_callbacks *callbacks, void *context) {
    struct runloops_daemon *daemon = calloc(1, sizeof *daemon);
    if (daemon == NULL) return NULL;
    daemon->callbacks = *callbacks;
    daemon->context = context;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE;
    struct MHD_OptionItem secrets[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key},
        {MHD_OPTION_END, 0, NULL},
    };
    if (settings->certificate != NULL) {
        flags |= MHD_USE_TLS;
    } else {
        secrets[0] = secrets[2];
    }
    daemon->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, proceed, daemon, MHD_OPTION_LISTEN_SOCKET, settings->socket,
        MHD_OPTION_CONNECTION_LIMIT, settings->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        settings->connections_of_address, MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, daemon,
        MHD_OPTION_URI_LOG_CALLBACK, notify_target, daemon, MHD_OPTION_NOTIFY_COMPLETED, notify_end, daemon,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_ARRAY, secrets, MHD_OPTION_END);
    if (daemon->daemon == NULL) {
        free(daemon);
        return NULL;
    }
    return daemon;
}

void runloops_daemon_free(struct runloops_daemon *daemon) {
    MHD_stop_daemon(daemon->daemon);
    free(daemon);
}

int runloops_daemon_descriptor(struct runloops_daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

void runloops_daemon_run(struct runloops_daemon *daemon) { MHD_run(daemon->daemon); }

bool runloops_daemon_has_more(struct runloops_daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG milliseconds;
    return MHD_get_timeout(daemon->daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}

int runloops_daemon_stop_accepting(struct runloops_daemon *daemon) { return MHD_quiesce_daemon(daemon->daemon); }

void runloops_link_suspend(struct runloops_link *link) { MHD_suspend_connection(connection_of(link)); }

void runloops_link_resume(struct runloops_link *link) { MHD_resume_connection(connection_of(link)); }

int runloops_link_socket(struct runloops_link *link) {
    return MHD_get_connection_info(connection_of(link), MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

int runloops_socket_unread(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) == -1 ? -1 : count;
}

bool runloops_socket_is_at_end(int socket) {
    char byte;
    ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count == -1 && errno != EAGAIN && errno != EINTR);
}

bool runloops_socket_has_connection(int socket) {
    struct pollfd entry = {.fd = socket, .events = POLLIN};
    return poll(&entry, 1, 0) == 1;
}

void runloops_socket_close(int socket) { close(socket); }

void runloops_socket_end(int socket) { shutdown(socket, SHUT_RDWR); }

struct visitor {
    void (*visit)(void *context, const char *name, size_t name_count, const char *value, size_t value_count);
    void *context;
};

static enum MHD_Result visit(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_count, const char *value, size_t value_count) {
    (void)kind;
    struct visitor *visitor = context;
    visitor->visit(visitor->context, name, name_count, value == NULL ? "" : value, value_count);
    return MHD_YES;
}

void runloops_link_fields(
    struct runloops_link *link,
    void (*visit_field)(void *context, const char *name, size_t name_count, const char *value, size_t value_count),
    void *context) {
    struct visitor visitor = {visit_field, context};
    MHD_get_connection_values_n(connection_of(link), MHD_HEADER_KIND, visit, &visitor);
}

bool runloops_link_answer(struct runloops_link *link, unsigned status, struct runloops_answer *answer) {
    return MHD_queue_response(connection_of(link), status, response_of(answer)) == MHD_YES;
}

struct runloops_answer *runloops_answer_new(const void *bytes, size_t count) {
    return answer_of(MHD_create_response_from_buffer(count, (void *)(count == 0 ? "" : bytes), MHD_RESPMEM_MUST_COPY));
}

struct reader {
    runloops_read_body read;
    void (*release)(void *context);
    void *context;
};

static ssize_t read_body(void *context, uint64_t offset, char *room, size_t capacity) {
    (void)offset;
    struct reader *reader = context;
    long count = reader->read(reader->context, room, capacity);
    if (count == runloops_body_end) return MHD_CONTENT_READER_END_OF_STREAM;
    return count == runloops_body_failed ? MHD_CONTENT_READER_END_WITH_ERROR : count;
}

static void release_body(void *context) {
    struct reader *reader = context;
    reader->release(reader->context);
    free(reader);
}

struct runloops_answer *runloops_answer_new_stream(
    int64_t count, runloops_read_body read, void (*release)(void *context), void *context) {
    struct reader *reader = malloc(sizeof *reader);
    if (reader == NULL) return NULL;
    *reader = (struct reader){read, release, context};
    uint64_t size = count < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)count;
    struct MHD_Response *response = MHD_create_response_from_callback(size, 32 << 10, read_body, reader, release_body);
    if (response == NULL) free(reader);
    return answer_of(response);
}

struct runloops_answer *runloops_answer_new_file(int descriptor, uint64_t count) {
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    struct MHD_Response *response =
        MHD_create_response_from_fd_at_offset64(count, descriptor, offset < 0 ? 0 : (uint64_t)offset);
    if (response == NULL) close(descriptor);
    return answer_of(response);
}

static void upgrade(
    void *context, struct MHD_Connection *connection, void *request, const char *bytes, size_t count, MHD_socket socket,
    struct MHD_UpgradeResponseHandle *handle) {
    (void)connection;
    struct runloops_daemon *daemon = context;
    daemon->callbacks.upgraded(request, socket, bytes, count, (struct runloops_upgraded *)handle);
}

struct runloops_answer *runloops_answer_new_upgrade(struct runloops_daemon *daemon) {
    return answer_of(MHD_create_response_for_upgrade(upgrade, daemon));
}

bool runloops_answer_add_field(struct runloops_answer *answer, const char *name, const char *value) {
    return MHD_add_response_header(response_of(answer), name, value) == MHD_YES;
}

void runloops_answer_free(struct runloops_answer *answer) { MHD_destroy_response(response_of(answer)); }

void runloops_upgraded_release(struct runloops_upgraded *upgraded) {
    MHD_upgrade_action((struct MHD_UpgradeResponseHandle *)upgraded, MHD_UPGRADE_ACTION_CLOSE);
}

int64_t runloops_body_size(int descriptor) {
    struct stat file;
    if (fstat(descriptor, &file) == -1 || !S_ISREG(file.st_mode)) return -1;
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    if (offset == -1) return -1;
    return file.st_size > offset ? file.st_size - offset : 0;
}
