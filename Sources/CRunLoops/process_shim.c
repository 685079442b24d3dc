#define _GNU_SOURCE
#include "process_shim.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The number is needed if the C library is older than the kernel.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int runloops_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int runloops_wait(int descriptor, int options, struct runloops_process_status *status) {
    // P_PIDFD, which older headers lack.
    const idtype_t pidfd = (idtype_t)3;
    siginfo_t info = {0};
    // __WALL includes children that were cloned to report their end by another signal, or by none.
    if (waitid(pidfd, (id_t)descriptor, &info, options | __WALL) != 0) return errno;
    status->code = info.si_pid == 0 ? 0 : info.si_code;
    status->status = info.si_pid == 0 ? 0 : info.si_status;
    return 0;
}
