#include "allocations.h"

#include <errno.h>
#include <malloc.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_OTHER_ALLOCATOR 1
#endif
#endif

#if defined(HAS_OTHER_ALLOCATOR)

bool allocations_are_counted(void) { return false; }
size_t allocations_of_thread(void) { return 0; }
size_t allocations_bytes_in_use(void) { return 0; }

#else

// The allocator's functions under the names by which it may be replaced: a program's own definitions come
// before the C library's, so these count and hand on.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

// `initial-exec`: the thread's storage is there from its start, so reading it never allocates.
static __thread size_t count __attribute__((tls_model("initial-exec")));

void *malloc(size_t size) {
    count += 1;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count += 1;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count += 1;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count += 1;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count += 1;
    void *found = __libc_memalign(alignment, size);
    if (found == NULL) return ENOMEM;
    *block = found;
    return 0;
}

bool allocations_are_counted(void) { return true; }

size_t allocations_of_thread(void) { return count; }

size_t allocations_bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

#endif
