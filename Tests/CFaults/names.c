#define _GNU_SOURCE
#include "names.h"

#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "next.h"

// A library that looks up names on threads of its own is held there, not on the thread of the test.

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned waiting;
static unsigned long releases;

#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)

static bool ends_in(const char *host, const char *end) {
    const char *last = host == NULL ? NULL : strstr(host, end);
    return last != NULL && last[strlen(end)] == 0;
}

int getaddrinfo(const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict found) {
    bool is_numeric = hints != NULL && (hints->ai_flags & AI_NUMERICHOST) != 0;
    if (!is_numeric && ends_in(host, ".held.test")) {
        pthread_mutex_lock(&lock);
        unsigned long before = releases;
        waiting += 1;
        pthread_cond_broadcast(&changed);
        while (releases == before) pthread_cond_wait(&changed, &lock);
        waiting -= 1;
        pthread_mutex_unlock(&lock);
        return EAI_NONAME;
    }
    static __typeof__(&getaddrinfo) next;
    if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE)) __atomic_store_n(&next, NEXT_OF(getaddrinfo), __ATOMIC_RELEASE);
    return next(!is_numeric && ends_in(host, ".found.test") ? "127.0.0.1" : host, service, hints, found);
}

#pragma clang attribute pop

unsigned faults_held_names(void) {
    pthread_mutex_lock(&lock);
    unsigned count = waiting;
    pthread_mutex_unlock(&lock);
    return count;
}

void faults_release_names(void) {
    pthread_mutex_lock(&lock);
    releases += 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
