#define _GNU_SOURCE
#include "transfers.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "next.h"

// Options that cure traps of libcurl can be withheld, to show that the trap is there without them; and calls that libcurl refuses are
// counted.

static int withheld;
static __thread unsigned dispositions __attribute__((tls_model("initial-exec")));
static __thread unsigned refused_calls __attribute__((tls_model("initial-exec")));

void faults_withhold_option(int option) { __atomic_store_n(&withheld, option, __ATOMIC_RELAXED); }

unsigned faults_pipe_dispositions(void) { return dispositions; }

unsigned faults_refused_multi_calls(void) { return refused_calls; }

static void leave(void) { _exit(7); }

bool faults_forbid_openssl_cleanup(void) {
    int (*register_handler)(void (*)(void)) = dlsym(RTLD_DEFAULT, "OPENSSL_atexit");
    return register_handler && register_handler(leave) == 1;
}

#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)

// The third argument is a long, a 64-bit number or a pointer: each takes one word.
int curl_easy_setopt(void *easy, int option, ...) {
    if (option == __atomic_load_n(&withheld, __ATOMIC_RELAXED)) return 0;
    va_list arguments;
    va_start(arguments, option);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    static int (*next)(void *, int, ...);
    if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE))
        __atomic_store_n(&next, dlsym(RTLD_NEXT, "curl_easy_setopt"), __ATOMIC_RELEASE);
    return next(easy, option, argument);
}

/// `CURLM_RECURSIVE_API_CALL`.
enum { is_recursive = 8 };

#define COUNT_REFUSALS(function, parameters, ...) \
    int function parameters { \
        static int(*next) parameters; \
        if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE)) \
            __atomic_store_n(&next, dlsym(RTLD_NEXT, #function), __ATOMIC_RELEASE); \
        int code = next(__VA_ARGS__); \
        if (code == is_recursive) refused_calls += 1; \
        return code; \
    }

COUNT_REFUSALS(curl_multi_add_handle, (void *multi, void *easy), multi, easy)
COUNT_REFUSALS(curl_multi_remove_handle, (void *multi, void *easy), multi, easy)
COUNT_REFUSALS(
    curl_multi_socket_action, (void *multi, int socket, int events, int *running), multi, socket, events, running)

int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old) {
    static __typeof__(&sigaction) next;
    if (number == SIGPIPE && action != NULL) dispositions += 1;
    if (!__atomic_load_n(&next, __ATOMIC_ACQUIRE)) __atomic_store_n(&next, NEXT_OF(sigaction), __ATOMIC_RELEASE);
    return next(number, action, old);
}

#pragma clang attribute pop
