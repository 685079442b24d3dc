#include "main_queue_shim.h"

#include <errno.h>
#include <stdlib.h>

__attribute__((weak)) extern int _dispatch_get_main_queue_handle_4CF(void);
__attribute__((weak)) extern void _dispatch_main_queue_callback_4CF(void *);
__attribute__((weak)) extern void *swift_task_asyncMainDrainQueue_hook;

static bool is_hidden = false;

void runloops_hide_main_queue(void) { is_hidden = true; }

bool runloops_main_queue_is_offered(void) {
    return !is_hidden && _dispatch_get_main_queue_handle_4CF != NULL && _dispatch_main_queue_callback_4CF != NULL;
}

int runloops_main_queue_handle(void) {
    return runloops_main_queue_is_offered() ? _dispatch_get_main_queue_handle_4CF() : -1;
}

void runloops_main_queue_drain(void) { _dispatch_main_queue_callback_4CF(NULL); }

static void (*run_main_loop)(void);

// The runtime passes its own function as `original`, which it would call otherwise.
__attribute__((swiftcall)) static void drain_main_queue(void *original, void *override) {
    (void)original;
    (void)override;
    run_main_loop();
    abort();
}

int runloops_keep_main_thread(void (*run)(void)) {
    if (!runloops_main_queue_is_offered() || &swift_task_asyncMainDrainQueue_hook == NULL) return ENOTSUP;
    void *ours = (void *)drain_main_queue;
    if (swift_task_asyncMainDrainQueue_hook != NULL && swift_task_asyncMainDrainQueue_hook != ours) return EBUSY;
    run_main_loop = run;
    swift_task_asyncMainDrainQueue_hook = ours;
    return 0;
}

bool runloops_main_thread_was_kept(void) { return run_main_loop != NULL; }
