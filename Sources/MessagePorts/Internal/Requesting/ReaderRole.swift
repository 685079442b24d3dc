/// The role of the reader of a connection; at most one thread or loop has this role at a time.
///
/// If two threads read the connection, one of them could receive the reply that the other is waiting for, and the other would not
/// wake up.
///
/// If threads wait for replies, one of them takes the role, and reads the replies to all requests. That thread reads its own reply,
/// so no other thread has to wake it. If no thread waits, but tasks wait or handlers are to be called when the connection ends, the
/// kernel notifies the process's ``ConnectionService``, which then takes the role. A connection that is made for a loop is read
/// only by the loop.
struct ReaderRole: Sendable {
    private enum State {
        /// There is no reader: no reader is needed, or a thread was woken and takes the role next.
        case free
        /// The reader is a thread, which waits for a reply or has found that the other end is closed.
        case thread
        /// There is no reader yet. The service takes the role when the kernel notifies it, unless a thread takes it first.
        case announced
        /// The reader is the service, which is reading at this moment.
        case service
        /// The reader is the loop that the port is in, and this state never changes.
        ///
        /// While the port is in no loop, the connection is not read.
        case loop
    }

    /// The events that require the service to read the connection.
    struct ServiceInterest: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// The arrival of packets, for tasks that wait for replies.
        static let replies = ServiceInterest(rawValue: 1)
        /// The end of the connection, for the handlers that are called when the connection ends.
        static let end = ServiceInterest(rawValue: 2)
    }

    /// The caller's next step.
    enum Action: Equatable {
        case nothing
        /// The caller wakes a waiting thread, which reads.
        case wakeThread
        /// The caller asks the kernel to notify the service of these events, once.
        case notifyService(ServiceInterest)
    }

    private var state: State

    init(isReadByLoop: Bool = false) { state = isReadByLoop ? .loop : .free }

    /// The events that the kernel is to report to the service; nil if there are none.
    ///
    /// This becomes nil as soon as the kernel has reported one of the events.
    private var pending: ServiceInterest?

    /// Gives the role to the calling thread, unless another reader has it.
    ///
    /// - Returns: True if the thread has the role now.
    mutating func acquireForThread() -> Bool {
        switch state {
        case .free, .announced:
            state = .thread
            return true
        case .thread, .service, .loop: return false
        }
    }

    /// Gives the role to the service, which the kernel has notified.
    ///
    /// - Returns: True if the service has the role now. Otherwise another reader has the role, or no reader is needed.
    mutating func acquireForService() -> Bool {
        pending = nil
        switch state {
        case .announced:
            state = .service
            return true
        case .free, .thread, .service, .loop: return false
        }
    }

    /// Releases the role, which the caller has.
    mutating func release() {
        switch state {
        case .thread, .service: state = .free
        case .free, .announced, .loop: preconditionFailure("only the reader releases the role")
        }
    }

    /// Chooses the next reader, if the role is free and a reader is needed.
    ///
    /// - Parameters:
    ///   - threadWaits: True if a thread waits for a reply, and could take the role.
    ///   - interest: The events that require the service to read the connection.
    /// - Returns: The caller's next step.
    mutating func next(threadWaits: Bool, interest: ServiceInterest) -> Action {
        switch state {
        case .thread, .service, .loop: return .nothing
        case .free, .announced:
            // The thread takes the role when it wakes.
            if threadWaits { return .wakeThread }
            if interest.isEmpty {
                state = .free
                return .nothing
            }
            state = .announced
            if pending == interest { return .nothing }
            pending = interest
            return .notifyService(interest)
        }
    }
}
