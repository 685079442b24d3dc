/// The counts of a port's send rights and send-once rights, and the state of the notice about them.
///
/// The notice tells the port's receiver that no send right is left. Only the methods of this type change the state. Rights can
/// exist longer than their port: after the port has ended, its rights are still counted, but have no effect.
struct PortRights: Sendable {
    /// The state of the notice that tells the receiver that no send right is left.
    private enum Notice {
        /// The receiver has not requested the notice.
        case notRequested
        /// The receiver has requested the notice, but the notice is not due yet.
        case requested
        /// A notice is in the port's queue.
        ///
        /// `made` is the total number of send rights that had been made when the notice was queued. No send right was left then.
        case queued(made: Int)
        /// The port has ended, and sends no more notices.
        case ended
    }

    /// An action that the caller must perform after it has released its locks.
    enum Action {
        case nothing
        /// The caller must queue a notice in the port, behind all messages that were sent through the rights.
        case queueNotice
        /// The caller must call the receiver's handler.
        ///
        /// A notice has arrived, and no send right was made since the notice was queued.
        case callHandler
    }

    private var notice = Notice.notRequested

    /// The number of send rights that exist.
    ///
    /// A send right and its copies count as one.
    private(set) var sendRights = 0

    /// The number of send-once rights that are neither used nor destroyed.
    private(set) var sendOnceRights = 0

    /// The total number of send rights that have been made.
    ///
    /// A notice carries the value that this number had when the notice was queued. If the number is higher by the time that the
    /// notice arrives, the notice is out of date.
    private var made = 0

    /// The value of ``made`` in the last notice that has reached the receiver's handler.
    private var reportedMade = 0

    // MARK: - Rights

    mutating func makeSendRight() {
        sendRights += 1
        made += 1
    }

    /// Records that the last copy of a send right was released.
    mutating func dropSendRight() -> Action {
        precondition(sendRights > 0, "a right goes once")
        sendRights -= 1
        switch notice {
        case .requested: return queueIfDue()
        case .notRequested, .queued, .ended: return .nothing
        }
    }

    mutating func makeSendOnceRight() { sendOnceRights += 1 }

    /// Records that a send-once right was used or destroyed.
    mutating func endSendOnceRight() {
        precondition(sendOnceRights > 0, "a send-once right ends once")
        sendOnceRights -= 1
    }

    // MARK: - The receiver

    /// Requests the notice that tells the receiver that no send right is left.
    ///
    /// The notice is due immediately if send rights were made, all of them were released, and the receiver's handler has not been
    /// called since the last of them was made.
    mutating func requestNotice() -> Action {
        switch notice {
        case .notRequested, .requested:
            notice = .requested
            return queueIfDue()
        case .queued, .ended: return .nothing
        }
    }

    /// Cancels the request for the notice that tells the receiver that no send right is left.
    mutating func cancelNotice() {
        switch notice {
        case .requested: notice = .notRequested
        // A queued notice still arrives, but is ignored.
        case .notRequested, .queued, .ended: break
        }
    }

    /// Records that the notice has reached the head of the queue.
    ///
    /// - Parameter isWanted: True if the receiver now has a handler for the notice.
    /// - Returns: The action that the caller must perform.
    mutating func noticeArrives(isWanted: Bool) -> Action {
        switch notice {
        case .queued(let madeThen):
            guard isWanted else {
                notice = .notRequested
                return .nothing
            }
            notice = .requested
            if madeThen != made {
                // Rights have been made since then. If these rights were released, too, all their messages arrive before the next
                // notice.
                return queueIfDue()
            }
            reportedMade = made
            return .callHandler
        case .notRequested, .requested: preconditionFailure("a notice arrives only after it was queued")
        case .ended: return .nothing
        }
    }

    /// Stops the notices, because the port has ended.
    mutating func end() { notice = .ended }

    /// True once the port has ended, and so sends no more notices.
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

/// The rights of a port, and the callbacks that are scheduled when the port ends.
struct RightsRecord: Sendable {
    var rights = PortRights()
    /// The callbacks that are scheduled when the port ends.
    var endCallbacks = LoopCallbacks()
}
