#include <sys/resource.h>

// Tests that run side by side have hundreds of descriptors together, and a shell gives 1,024. A test of what happens without
// any sets a limit of its own, in a process of its own.
__attribute__((constructor)) static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    rlim_t wanted = 16384;
    if (limit.rlim_max < wanted) wanted = limit.rlim_max;
    if (limit.rlim_cur >= wanted) return;
    limit.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}
