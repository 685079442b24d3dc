/// The rights to send to a port, and whether its receiver is to be told that there are none.
///
/// Every legal step is a method here, and nothing else changes the state. Rights outlive their port: what becomes of them
/// is counted after its end, too, and then has no consequence.
struct PortRights: Sendable {
    /// What the receiver hears of the last send right.
    private enum Notice {
        /// Nobody wants to be told.
        case notRequested
        /// The receiver wants to be told, and there is nothing to tell.
        case requested
        /// A notice is in the port's queue; it tells of the time at which so many rights had been made.
        case queued(made: Int)
        /// The port has ended, and nobody is told any more.
        case ended
    }

    /// What the caller does next, once it holds no lock.
    enum Action {
        case nothing
        /// Puts a notice into the port's queue, behind what the rights have sent.
        case queueNotice
        /// Calls the receiver's handler: a notice has come, and it is true.
        case callHandler
    }

    private var notice = Notice.notRequested

    /// How many send rights there are, copies not counted.
    private(set) var sendRights = 0

    /// How many send-once rights are neither used nor destroyed.
    private(set) var sendOnceRights = 0

    /// How many send rights were ever made.
    ///
    /// A notice tells of one value of it: if more have been made when it arrives, it is stale.
    private var made = 0

    /// The value of ``made`` of which the receiver was last told.
    private var reportedMade = 0

    // MARK: - Rights

    mutating func makeSendRight() {
        sendRights += 1
        made += 1
    }

    /// The last copy of a send right has gone.
    mutating func dropSendRight() -> Action {
        precondition(sendRights > 0, "a right goes once")
        sendRights -= 1
        switch notice {
        case .requested: return queueIfDue()
        case .notRequested, .queued, .ended: return .nothing
        }
    }

    mutating func makeSendOnceRight() { sendOnceRights += 1 }

    /// A send-once right was used, or destroyed.
    mutating func endSendOnceRight() {
        precondition(sendOnceRights > 0, "a send-once right ends once")
        sendOnceRights -= 1
    }

    // MARK: - The receiver

    /// The receiver wants to be told, also of what has come about already.
    mutating func requestNotice() -> Action {
        switch notice {
        case .notRequested, .requested:
            notice = .requested
            return queueIfDue()
        case .queued, .ended: return .nothing
        }
    }

    /// The receiver does not want to be told any more.
    mutating func cancelNotice() {
        switch notice {
        case .requested: notice = .notRequested
        // What is in the queue arrives, and nobody wants it then.
        case .notRequested, .queued, .ended: break
        }
    }

    /// The notice has come to the head of the queue.
    ///
    /// - Parameter isWanted: Whether the receiver wants to be told now.
    /// - Returns: What is to be done.
    mutating func noticeArrives(isWanted: Bool) -> Action {
        switch notice {
        case .queued(let madeThen):
            guard isWanted else {
                notice = .notRequested
                return .nothing
            }
            notice = .requested
            if madeThen != made {
                // Rights were made since. If they have gone too, what they sent comes first.
                return queueIfDue()
            }
            reportedMade = made
            return .callHandler
        case .notRequested, .requested: preconditionFailure("a notice arrives that nobody has queued")
        case .ended: return .nothing
        }
    }

    /// The port ends.
    mutating func end() { notice = .ended }

    /// Whether the port has ended, as far as notices are concerned.
    var hasEnded: Bool {
        switch notice {
        case .ended: true
        case .notRequested, .requested, .queued: false
        }
    }

    private mutating func queueIfDue() -> Action {
        if sendRights > 0 || made == reportedMade { return .nothing }
        notice = .queued(made: made)
        return .queueNotice
    }
}

/// What a port keeps for its rights.
struct RightsRecord: Sendable {
    var rights = PortRights()
    /// Who is to be told of the port's end.
    var watchers = EndWatchers()
}
