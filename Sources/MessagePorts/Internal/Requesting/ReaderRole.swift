/// Who reads a connection on which replies come: one at a time, or a reply could be read by one who is not waiting for it,
/// while who is sleeps on.
///
/// A thread that waits for a reply reads for all, and so needs nobody to wake it. Where only tasks wait, or nobody does but
/// the end is to be told, the service of the process is told by the kernel, and reads then.
struct ReaderRole: Sendable {
    private enum State {
        /// Nobody: nothing is waited for.
        case nobody
        /// A thread that waits for a reply.
        case thread
        /// The service, as soon as the kernel tells it.
        case announced
        /// The service, at this moment.
        case service
    }

    /// What is to be told to the service.
    struct Wish: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// That something has come: tasks wait for replies.
        static let replies = Wish(rawValue: 1)
        /// That nothing will come any more: somebody wants to be told of the end.
        static let end = Wish(rawValue: 2)
    }

    /// What the caller does next.
    enum Action: Equatable {
        case nothing
        /// Wakes a thread that waits, to read.
        case nudgeThread
        /// Has the kernel tell the service, once.
        case announce(Wish)
    }

    private var state = State.nobody
    /// What the kernel has been told to tell, and has not told yet.
    private var known: Wish?

    /// A thread would read, and does if nobody else is reading.
    mutating func takeForThread() -> Bool {
        switch state {
        case .nobody, .announced:
            state = .thread
            return true
        case .thread, .service: return false
        }
    }

    /// The kernel has told the service.
    ///
    /// - Returns: Whether the service reads. If it does not, somebody else does, or nobody needs to.
    mutating func takeForService() -> Bool {
        known = nil
        switch state {
        case .announced:
            state = .service
            return true
        case .nobody, .thread, .service: return false
        }
    }

    /// Whoever has read reads no more.
    mutating func giveUp() {
        switch state {
        case .thread, .service: state = .nobody
        case .nobody, .announced: preconditionFailure("nobody reads")
        }
    }

    /// Sees to it that somebody reads, if it matters.
    ///
    /// - Parameters:
    ///   - threadWaits: Whether a thread waits that could.
    ///   - wish: What the service is needed for.
    /// - Returns: What the caller does next.
    mutating func next(threadWaits: Bool, wish: Wish) -> Action {
        switch state {
        case .thread, .service: return .nothing
        case .nobody, .announced:
            // The thread takes the role when it wakes.
            if threadWaits { return .nudgeThread }
            if wish.isEmpty {
                state = .nobody
                return .nothing
            }
            state = .announced
            if known == wish { return .nothing }
            known = wish
            return .announce(wish)
        }
    }
}
