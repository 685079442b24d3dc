#define _GNU_SOURCE
#include "default_executor.h"

#include <dlfcn.h>
#include <stddef.h>

// The Swift runtime calls this hook, if there is one, instead of enqueuing a job on the default executor.
typedef __attribute__((swiftcall)) void (*enqueue)(void *job);
typedef __attribute__((swiftcall)) void (*hook)(void *job, enqueue original);

static unsigned long count;

static __attribute__((swiftcall)) void count_job(void *job, enqueue original) {
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    original(job);
}

bool default_executor_count_jobs(void) {
    hook *slot = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
    if (slot == NULL) return false;
    __atomic_store_n(slot, count_job, __ATOMIC_SEQ_CST);
    return true;
}

unsigned long default_executor_jobs(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }
