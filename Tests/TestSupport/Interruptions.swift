internal import CFaults

extension Faults {
    /// A system call that a signal can interrupt.
    public enum Call: UInt32, Sendable {
        case epollWait, poll, ppoll, sendmsg, recvmsg, accept, connect, waitid, flock, open, openat, read
        /// Also the write to an eventfd.
        case write
        case sigtimedwait
        /// The call reports an interruption, although it has closed the descriptor.
        case close
        case recv, send, recvmmsg, sendmmsg
    }

    /// Makes the next system calls of a kind by the calling thread fail.
    ///
    /// - Parameters:
    ///   - call: The kind of call.
    ///   - code: The error code.
    ///   - times: The number of calls.
    public static func refuse(_ call: Call, _ code: CInt, times: Int = 1) {
        faults_refuse(faults_call(rawValue: call.rawValue), code, UInt32(times))
    }

    /// Makes the next system calls of a kind by the calling thread report that a signal has interrupted them.
    ///
    /// - Parameters:
    ///   - call: The kind of call.
    ///   - times: The number of calls.
    public static func interrupt(_ call: Call, times: Int = 3) {
        faults_interrupt(faults_call(rawValue: call.rawValue), UInt32(times))
    }

    /// The number of system calls of a kind that the calling thread has made.
    ///
    /// - Parameter call: The kind of call.
    /// - Returns: The number of calls.
    public static func calls(_ call: Call) -> Int {
        Int(faults_calls(faults_call(rawValue: call.rawValue)))
    }

    /// The number of system calls of a kind by the calling thread that are still to be interrupted.
    ///
    /// - Parameter call: The kind of call.
    /// - Returns: The number of calls.
    public static func interruptionsLeft(_ call: Call) -> Int {
        Int(faults_interruptions_left(faults_call(rawValue: call.rawValue)))
    }

    /// Makes the next IP sockets that the calling thread connects be connected to themselves, if no process listens at the address.
    ///
    /// - Parameter times: The number of sockets.
    public static func connectToItself(times: Int) { faults_connect_to_itself(UInt32(times)) }
}
