internal import RunLoops

extension MessagePortCore {
    /// The name of a port, and the socket that listens under it, until the port gives them up.
    ///
    /// When ``giveUp(_:)`` has returned the name is free, whatever the port's loop is doing: so what the loop does with the
    /// listener it does under the lock, and holds nothing of it while the filter runs. Those system calls never wait.
    final class Registration: Sendable {
        private let lock = Guarded(())
        /// Nil once it was given up.
        ///
        /// `nonisolated(unsafe)`: touched under the lock. Not a reference that is counted: the last one to let go of it could
        /// be the loop, a moment after the port has ended.
        nonisolated(unsafe) private var held: PortRegistration?

        /// True if a connection that was not let in holds no descriptors.
        let keepsOutDescriptors: Bool

        init(_ held: consuming PortRegistration) {
            keepsOutDescriptors = held.listener.keepsOutDescriptors
            unsafe self.held = consume held
        }

        /// Takes one connection, without waiting; none once the name was given up.
        func accept() -> PacketListener.Accepted {
            var accepted: PacketListener.Accepted?
            // The loop's thread must not end with the lock.
            let cancellation = ThreadCancellation.disable()
            defer { cancellation.restore() }
            lock.withLock { _ in
                switch unsafe held {
                case .some(let held): accepted = held.listener.accept()
                case .none: break
                }
            }
            return accepted ?? .none
        }

        /// Has a set report those who want to connect.
        func watch(in set: EpollSet) throws(SystemError) {
            try lock.withLock { _ throws(SystemError) in
                switch unsafe held {
                case .some(let held):
                    try set.add(
                        held.listener.descriptor, .reading, token: MessagePortCore.listenerToken)
                case .none: break
                }
            }
        }

        /// Has a set report them no more.
        func unwatch(in set: EpollSet) {
            lock.withLock { _ in
                switch unsafe held {
                case .some(let held): set.remove(held.listener.descriptor)
                case .none: break
                }
            }
        }

        /// Gives up the name, and turns away those who wait to connect; again is harmless.
        ///
        /// - Parameter set: What the listener may be watched in.
        func giveUp(_ set: EpollSet) {
            unwatch(in: set)
            var ended: PortRegistration?
            lock.withLock { _ in ended = unsafe held.take() }
            _ = consume ended
        }
    }
}
