#pragma once

#include "interruptions.h"

#include <stdbool.h>

/// Whether system calls can be refused and clocks be watched: not where a sanitizer has these functions.
bool faults_are_there(void);

/// From now on `epoll_ctl` refuses the calling thread with this errno to watch a descriptor; 0 for as the kernel likes.
void faults_refuse_watches(int code);

/// The next so many times `sendmsg` refuses the calling thread with this errno.
void faults_refuse_sends(int code, unsigned times);

/// How often it still will.
unsigned faults_refused_sends_left(void);

/// How often the calling thread has read the wall clock, or made something that waits by it.
unsigned faults_wall_clock_uses(void);
