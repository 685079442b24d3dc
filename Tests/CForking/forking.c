#define _GNU_SOURCE
#include "forking.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

pid_t forking_fork(void) { return fork(); }

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
