#pragma once

#include <stdbool.h>
#include <sys/types.h>

/// `fork`, which Swift does not give to programs: a lock of its runtime that another thread holds is never released in a child.
pid_t forking_fork(void);

/// Waits until all other threads of the process sleep, or for a second or two if one does not stop.
void forking_await_sleep(void);

/// Ends the process without running any handlers of its exit.
_Noreturn void forking_exit(int code);

/// Has the calling process ended by `SIGALRM` after a number of seconds, even if the thread blocks that signal.
void forking_end_after(unsigned seconds);

/// Becomes a shell that does something.
_Noreturn void forking_exec(const char *command);

/// Starts a shell that does something, and that blocks no signal unless it inherits that. Returns its number.
pid_t forking_spawn(const char *command, bool inherits_mask);

/// Ends the calling thread, and with it the process if it was the last one.
_Noreturn void forking_end_thread(void);

/// Waits for a child. Returns its exit code, or 1000 and its signal if one ended it; -1 if it is not there.
int forking_wait(pid_t child);
