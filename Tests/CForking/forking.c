#define _GNU_SOURCE
#include "forking.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// Whether the kernel says that a thread of this process sleeps, or has ended.
static bool sleeps(const char *thread) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == ENOENT;
    ssize_t length = read(file, text, sizeof text - 1);
    int code = errno;
    close(file);
    if (length <= 0) return length < 0 && code == ESRCH;
    text[length] = '\0';
    // The state follows the name, which is in parentheses and may contain some.
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strchr("SZX", name_end[2]) != NULL;
}

// Whether all threads of this process but the calling one sleep.
static bool others_sleep(void) {
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL) return false;
    char self[32];
    snprintf(self, sizeof self, "%d", gettid());
    bool sleep = true;
    for (struct dirent *entry; sleep && (entry = readdir(threads)) != NULL;) {
        sleep = entry->d_name[0] == '.' || strcmp(entry->d_name, self) == 0 || sleeps(entry->d_name);
    }
    closedir(threads);
    return sleep;
}

pid_t forking_fork(void) { return fork(); }

void forking_await_sleep(void) {
    struct timespec begin, now;
    const struct timespec pause = {.tv_nsec = 100000};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        if (others_sleep()) return;
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 2);
}

_Noreturn void forking_exit(int code) { _exit(code); }

_Noreturn void forking_exec(const char *command) {
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

void forking_end_after(unsigned seconds) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(seconds);
}

pid_t forking_spawn(const char *command, bool inherits_mask) {
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, inherits_mask ? 0 : POSIX_SPAWN_SETSIGMASK);
    pid_t child = -1;
    int code = posix_spawn(&child, "/bin/sh", NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return code == 0 ? child : -1;
}

_Noreturn void forking_end_thread(void) { pthread_exit(NULL); }

int forking_wait(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}
