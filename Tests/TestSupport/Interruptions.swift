internal import CFaults

extension Faults {
    /// A call of the kernel that a signal can interrupt.
    public enum Call: UInt32, Sendable {
        case epollWait, poll, ppoll, sendmsg, recvmsg, accept, connect, waitid, flock, open, openat, read
        /// Also that of an eventfd.
        case write
        case sigtimedwait
        /// Answers that it was interrupted, and has closed all the same.
        case close
        case recv, send
    }

    /// Has the next calls of a kind by the calling thread fail.
    ///
    /// - Parameters:
    ///   - call: Which.
    ///   - code: The error code.
    ///   - times: The number of them.
    public static func refuse(_ call: Call, _ code: CInt, times: Int = 1) {
        faults_refuse(faults_call(rawValue: call.rawValue), code, UInt32(times))
    }

    /// Has the next calls of a kind by the calling thread answer that a signal has interrupted them.
    ///
    /// - Parameters:
    ///   - call: Which.
    ///   - times: The number of them.
    public static func interrupt(_ call: Call, times: Int = 3) {
        faults_interrupt(faults_call(rawValue: call.rawValue), UInt32(times))
    }

    /// The number of calls of a kind that the calling thread has made.
    ///
    /// - Parameter call: Which.
    /// - Returns: The number.
    public static func calls(_ call: Call) -> Int {
        Int(faults_calls(faults_call(rawValue: call.rawValue)))
    }

    /// The number of calls of a kind by the calling thread that are still to be interrupted.
    ///
    /// - Parameter call: Which.
    /// - Returns: The number.
    public static func interruptionsLeft(_ call: Call) -> Int {
        Int(faults_interruptions_left(faults_call(rawValue: call.rawValue)))
    }
}
