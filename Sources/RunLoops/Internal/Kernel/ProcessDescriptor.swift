internal import CRunLoops
internal import Glibc

/// A pidfd: a descriptor that refers to one process.
///
/// A process ID is not sufficient: after the parent has waited for the process, the kernel can give the ID to another process.
struct ProcessDescriptor: ~Copyable {
    /// The pidfd, which is readable after the process has ended.
    let descriptor: CInt
    private let isChild: Bool

    init(_ processID: CInt) throws(SystemError) {
        // The kernel sets close-on-exec for each pidfd.
        let opened = try systemCall("pidfd_open") { runloops_pidfd_open(processID) }
        descriptor = opened
        switch ProcessDescriptor.wait(for: opened, WEXITED | WNOHANG | CInt(WNOWAIT)) {
        case .notToBeHad: isChild = false
        case .ended, .running: isChild = true
        }
    }

    deinit { close(descriptor) }

    /// Collects the status of the process if the process has ended, so that the kernel removes the process.
    ///
    /// - Returns: The way in which the process has ended; nil if its parent cannot get the status yet, for example because an
    ///   attached debugger gets the status first.
    func takeEnding() -> ProcessSource.Ending? {
        if !isChild { return .notAChild }
        switch ProcessDescriptor.wait(for: descriptor, WEXITED | WNOHANG) {
        case .ended(let ending): return ending
        case .running: return nil
        case .notToBeHad: return .statusTaken
        }
    }

    private enum Finding {
        case running
        case ended(ProcessSource.Ending)
        case notToBeHad
    }

    private static func wait(for descriptor: CInt, _ options: CInt) -> Finding {
        var status = runloops_process_status()
        while true {
            // Safe: the function fills our own value.
            let code = unsafe runloops_wait(descriptor, options, &status)
            if code == EINTR { continue }
            if code != 0 { return .notToBeHad }
            switch status.code {
            case CInt(CLD_EXITED): return .ended(.exited(status.status))
            case CInt(CLD_KILLED): return .ended(.killed(signal: status.status, coreDumped: false))
            case CInt(CLD_DUMPED): return .ended(.killed(signal: status.status, coreDumped: true))
            default: return .running
            }
        }
    }
}
