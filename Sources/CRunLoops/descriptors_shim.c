#define _GNU_SOURCE
#include "descriptors_shim.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int runloops_pipe(struct runloops_pipe_ends *ends) {
    int numbers[2];
    if (pipe2(numbers, O_CLOEXEC) != 0) return -1;
    *ends = (struct runloops_pipe_ends){.reading = numbers[0], .writing = numbers[1]};
    return 0;
}

int runloops_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }
