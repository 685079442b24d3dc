#pragma once

/// The end of a process, as `waitid` reports it.
struct runloops_process_status {
    /// `CLD_EXITED`, `CLD_KILLED` or `CLD_DUMPED`; 0 if the process has not ended.
    int code;
    /// The exit code, or the signal.
    int status;
};

/// Opens a descriptor for a process; -1 for failure, with errno.
int runloops_pidfd_open(int process);

/// Gets the status of the process that a descriptor refers to, with the options of `waitid`. Returns an errno, or 0.
int runloops_wait(int descriptor, int options, struct runloops_process_status *status);
