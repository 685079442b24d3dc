internal import CRunLoops
internal import Glibc

/// The number of a signal.
///
/// The number provides the signal's name. If the signal can have no ``SignalSource``, the number also provides the reason.
struct SignalNumber: CustomStringConvertible {
    let number: CInt

    init(_ number: CInt) { self.number = number }

    /// The reason for which the signal can have no ``SignalSource``; nil if it can have one.
    var refusal: String? {
        switch number {
        case SIGKILL, SIGSTOP: "\(self) cannot be handled by any program; choose another signal"
        case SIGCHLD: "SIGCHLD is for code that waits for children; use a ProcessSource for each child"
        case SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS:
            "\(self) reports a fault of the thread that receives it, which a loop cannot handle; remove the source"
        case 1..<SignalNumber.afterStandard, SignalNumber.firstRealTime...SignalNumber.lastRealTime: nil
        default: "no program can use a signal \(number); choose one of the system's, such as SIGTERM"
        }
    }

    /// The names of the standard signals of Linux on x86 and ARM, in the order of their numbers, which begin with 1.
    private static let names = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
        "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM",
        "PROF",
        "WINCH", "IO", "PWR", "SYS",
    ]

    private static let afterStandard = CInt(names.count + 1)
    private static let firstRealTime = runloops_first_real_time_signal()
    private static let lastRealTime = runloops_last_real_time_signal()

    /// The usual name, such as `SIGTERM`.
    var description: String {
        switch number {
        case 1..<SignalNumber.afterStandard: "SIG\(SignalNumber.names[Int(number) - 1])"
        case SignalNumber.firstRealTime: "SIGRTMIN"
        case SignalNumber.firstRealTime...SignalNumber.lastRealTime:
            "SIGRTMIN+\(number - SignalNumber.firstRealTime)"
        default: "signal \(number)"
        }
    }
}
