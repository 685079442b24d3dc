#pragma once

#include <stdbool.h>

/// Counts the jobs that are enqueued on Swift's default executor from now on. Returns false if the runtime has no hook for that.
bool default_executor_count_jobs(void);

/// The number of jobs that were enqueued on the default executor.
unsigned long default_executor_jobs(void);
