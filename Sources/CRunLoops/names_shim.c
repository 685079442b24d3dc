#include "names_shim.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { list_count = 64 };

static _Atomic(const struct runloops_name *) lists[list_count];

// Finds a name between a list's newest name and an older one, which is excluded.
static const struct runloops_name *find(const struct runloops_name *newest, const struct runloops_name *end,
                                        const char *bytes, size_t length) {
    for (const struct runloops_name *name = newest; name != end; name = name->next) {
        if (name->length == length && (length == 0 || memcmp(name->bytes, bytes, length) == 0)) return name;
    }
    return NULL;
}

const struct runloops_name *runloops_name(const char *bytes, size_t length) {
    // FNV-1a spreads short texts well.
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    _Atomic(const struct runloops_name *) *list = &lists[hash % list_count];

    // Names are never removed, so a name that was found not to be in the list can only have been added in front since.
    const struct runloops_name *newest = atomic_load_explicit(list, memory_order_acquire);
    const struct runloops_name *found = find(newest, NULL, bytes, length);
    if (found != NULL) return found;
    struct runloops_name *made = malloc(sizeof *made + length);
    if (made == NULL) abort();
    made->length = length;
    if (length > 0) memcpy(made->bytes, bytes, length);
    for (;;) {
        made->next = newest;
        const struct runloops_name *looked_through = newest;
        // Release publishes the bytes to whoever finds the name; acquire shows the bytes of names that others have added.
        if (atomic_compare_exchange_weak_explicit(list, &newest, made, memory_order_release, memory_order_acquire)) return made;
        found = find(newest, looked_through, bytes, length);
        if (found != NULL) {
            free(made);
            return found;
        }
    }
}
