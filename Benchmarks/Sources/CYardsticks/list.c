#include "yardsticks.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct node {
    struct node *next;
    int64_t value;
} node;

/// The value of `head`, in place of a node, while the consumer sleeps or is about to sleep.
#define ARMED ((uintptr_t)1)

struct bench_list {
    /// 0, ARMED, or the newest node. Alone on its pair of cache lines.
    _Alignas(128) _Atomic(uintptr_t) head;
    _Alignas(128) atomic_bool stopped;
    bench_parker parker;
};

bench_list *bench_list_create(void) {
    bench_list *list = aligned_alloc(128, sizeof(bench_list));
    if (!list) return NULL;
    atomic_init(&list->head, 0);
    atomic_init(&list->stopped, false);
    if (bench_parker_open(&list->parker)) return list;
    free(list);
    return NULL;
}

/// Takes all nodes and returns the chain with the oldest node first, or NULL if there are none.
static node *take(bench_list *list) {
    uintptr_t newest = atomic_exchange_explicit(&list->head, 0, memory_order_acquire);
    if (newest == ARMED) return NULL;
    node *oldest = NULL;
    for (node *next, *each = (node *)newest; each; each = next) {
        next = each->next;
        each->next = oldest;
        oldest = each;
    }
    return oldest;
}

void bench_list_destroy(bench_list *list) {
    for (node *next, *each = take(list); each; each = next) {
        next = each->next;
        free(each);
    }
    bench_parker_close(&list->parker);
    free(list);
}

void bench_list_push(bench_list *list, int64_t value) {
    node *added = malloc(sizeof(node));
    if (!added) abort();
    added->value = value;
    uintptr_t seen = atomic_load_explicit(&list->head, memory_order_relaxed);
    do {
        added->next = seen == ARMED ? NULL : (node *)seen;
    } while (!atomic_compare_exchange_weak_explicit(
        &list->head, &seen, (uintptr_t)added, memory_order_acq_rel, memory_order_relaxed));
    if (seen == ARMED) bench_parker_unpark(&list->parker);
}

void bench_list_run(bench_list *list, bench_receive receive, void *context) {
    for (;;) {
        node *each = take(list);
        if (!each) {
            if (atomic_load_explicit(&list->stopped, memory_order_acquire)) return;
            // Arming and pushing exchange the same word. The later exchange sees the earlier one, so no wake-up is lost.
            uintptr_t empty = 0;
            if (atomic_compare_exchange_strong_explicit(
                    &list->head, &empty, ARMED, memory_order_acq_rel, memory_order_relaxed))
                bench_parker_park(&list->parker);
            continue;
        }
        for (node *next; each; each = next) {
            next = each->next;
            receive(context, each->value);
            free(each);
        }
    }
}

void bench_list_stop(bench_list *list) {
    atomic_store_explicit(&list->stopped, true, memory_order_release);
    bench_parker_unpark(&list->parker);
}
