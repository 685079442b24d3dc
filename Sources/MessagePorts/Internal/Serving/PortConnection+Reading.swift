internal import RunLoops

// The events for which the port's epoll set watches a connection.

extension PortConnection {
    /// The reasons for which a connection is not read.
    struct Holds: OptionSet, Sendable {
        let rawValue: UInt8
        /// Its next packet carries more descriptors than the port may receive now.
        static let descriptors = Holds(rawValue: 1)
        /// The program has paused it.
        static let program = Holds(rawValue: 2)
    }

    /// Makes the port's epoll set report no received packets of this connection until ``resumeReading(after:)`` is called.
    ///
    /// Call this only on the thread of the port's loop.
    ///
    /// - Returns: False if the connection was held back for this reason already, or has ended.
    @discardableResult
    func holdBack(for reason: Holds) -> Bool {
        outbox.withLock { outbox in
            if outbox.isEnded || !outbox.holds.insert(reason).inserted { return false }
            watch(&outbox)
            return true
        }
    }

    /// Makes the port's epoll set report received packets of this connection again, unless there is another reason not to.
    func resumeReading(after reason: Holds) {
        outbox.withLock { outbox in
            if outbox.holds.remove(reason) != nil { watch(&outbox) }
        }
    }

    /// Sets the events that the port's epoll set reports for the connection.
    ///
    /// This is the only system call that is made under the lock of the outbox. Without the lock, two such calls could be made in
    /// the wrong order: a thread that adds the first packet asks for `.writing`, and the loop stops `.writing` when it has sent the
    /// last packet. Then the set would report room although no packet waits, or it would report no room although a packet waits.
    /// That packet would never be sent.
    func watch(_ outbox: inout Outbox) {
        var interest: EpollSet.Interest = outbox.awaitsRoom ? .writing : []
        // The kernel always reports the end. While the connection is not read, the kernel would do so in every pass. So the set
        // then reports each event only once.
        interest.formUnion(outbox.holds.isEmpty ? .reading : .edge)
        if outbox.isEnded || outbox.interest == interest { return }
        outbox.interest = interest
        do { try set.change(socket.descriptor, interest, token: token) } catch {
            preconditionFailure("the interest of a watched descriptor can be changed: \(error)")
        }
    }
}
