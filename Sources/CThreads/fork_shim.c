#include "fork_shim.h"

#include <pthread.h>

bool runloops_forked = false;

static void in_child(void) { runloops_forked = true; }

int runloops_watch_forks(void) { return pthread_atfork(0, 0, in_child); }
