internal import RunLoops

/// The name of a port, and the socket that listens under the name, until the port releases both.
///
/// When ``release(_:)`` has returned, the name is free, even if the port's loop is busy. To ensure that, the loop uses the socket
/// only under the lock, and holds no reference to it while the filter runs. The system calls under the lock never block.
final class PortListener: Sendable {
    private let lock = Guarded(())
    /// The name's registration; nil once the name has been released.
    ///
    /// `nonisolated(unsafe)`: accessed under the lock. This is a noncopyable value instead of an object, so that the loop cannot
    /// hold a reference to it. Such a reference could be the last one, and then the name would be released a little after the end
    /// of the port.
    nonisolated(unsafe) private var held: PortRegistration?

    /// True if the kernel rejects descriptors from a peer until the port has admitted the peer.
    let blocksDescriptors: Bool

    init(_ held: consuming PortRegistration) {
        blocksDescriptors = held.listener.blocksDescriptors
        unsafe self.held = consume held
    }

    /// Accepts one connection without blocking.
    ///
    /// After the name has been released, this accepts no connection.
    func accept() -> PacketListener.Accepted {
        var accepted: PacketListener.Accepted?
        // The loop's thread must not end while it holds the lock.
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

    /// Adds the listening socket to an epoll set, which then reports when connections wait to be accepted.
    func watch(in set: EpollSet) throws(SystemError) {
        try lock.withLock { _ throws(SystemError) in
            switch unsafe held {
            case .some(let held):
                try set.add(held.listener.descriptor, .reading, token: MessagePortCore.listenerToken)
            case .none: break
            }
        }
    }

    /// Removes the listening socket from an epoll set, which then no longer reports connections that wait to be accepted.
    func unwatch(in set: EpollSet) {
        lock.withLock { _ in
            switch unsafe held {
            case .some(let held): set.remove(held.listener.descriptor)
            case .none: break
            }
        }
    }

    /// True if the name has been neither lost nor released.
    var hasName: Bool {
        lock.withLock { _ in
            switch unsafe held {
            case .some(let held): held.hasName
            case .none: false
            }
        }
    }

    /// Makes a watch for the loss of the name; the watch reports each event that can mean this loss.
    ///
    /// Returns nil if the name cannot be lost or has been released.
    func watchName() throws(SystemError) -> NameWatch? {
        var watch: NameWatch?
        try lock.withLock { _ throws(SystemError) in
            switch unsafe held {
            case .some(let held): watch = try held.watch()
            case .none: break
            }
        }
        return watch
    }

    /// Releases the name, and refuses the processes that wait to connect.
    ///
    /// A second call does nothing.
    ///
    /// - Parameter set: The port's set, which then no longer watches the listener.
    func release(_ set: EpollSet) {
        unwatch(in: set)
        var ended: PortRegistration?
        lock.withLock { _ in ended = unsafe held.take() }
        _ = consume ended
    }
}
