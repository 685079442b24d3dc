#define _GNU_SOURCE
#include "number_files.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int runloops_number_file_open(uint64_t **number) {
    int file = memfd_create("notifications", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    void *map = MAP_FAILED;
    if (ftruncate(file, sizeof(uint64_t)) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        map = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (map == MAP_FAILED) {
        int code = errno;
        close(file);
        errno = code;
        return -1;
    }
    *number = map;
    return file;
}

void runloops_number_file_unmap(uint64_t *number) { munmap(number, sizeof(uint64_t)); }

void runloops_number_file_store(uint64_t *number, uint64_t value) {
    __atomic_store_n(number, htole64(value), __ATOMIC_RELEASE);
}

const uint64_t *runloops_number_file_map(int descriptor) {
    // Only files in memory have seals. A file of another kind may make its reader wait, and a file that shrinks may end the
    // reader's process.
    int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK)) return NULL;
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size < (off_t)sizeof(uint64_t)) return NULL;
    void *map = mmap(NULL, sizeof(uint64_t), PROT_READ, MAP_SHARED, descriptor, 0);
    return map == MAP_FAILED ? NULL : map;
}

void runloops_number_file_unmap_reader(const uint64_t *number) { munmap((void *)number, sizeof(uint64_t)); }

uint64_t runloops_number_file_load(const uint64_t *number) {
    return le64toh(__atomic_load_n(number, __ATOMIC_ACQUIRE));
}
