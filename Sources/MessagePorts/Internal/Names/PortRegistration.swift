internal import Glibc
internal import RunLoops

/// A port name that this process has taken, and the socket that listens under the name.
///
/// The name is released when this value is destroyed, or when the process ends.
struct PortRegistration: ~Copyable, Sendable {
    let name: PortName
    let listener: PacketListener
    /// The lock of a plain name; nil for an abstract name, which needs no lock.
    ///
    /// The kernel binds an abstract name to the socket itself.
    private let lock: NameLock?

    /// Takes a name, and listens under it.
    init(_ name: PortName, in place: PortNames.Place) throws(PortNameError) {
        if name.isAbstract {
            listener = try PortRegistration.listen(toAbstract: name)
            lock = nil
        } else {
            var lock = try NameLock(name, in: NameDirectory(place, makes: true))
            listener = try lock.listen()
            self.lock = consume lock
        }
        self.name = name
    }

    /// True if the name still leads to this port.
    var hasName: Bool {
        switch lock {
        case .some(let lock): lock.isInPlace
        case .none: true
        }
    }

    /// Makes a watch that reports each event that can mean the loss of the name.
    ///
    /// Returns nil for an abstract name, which cannot be lost.
    borrowing func watch() throws(SystemError) -> NameWatch? {
        switch lock {
        case .some(let lock): try lock.watch()
        case .none: nil
        }
    }

    private static func listen(toAbstract name: PortName) throws(PortNameError) -> PacketListener {
        do {
            return try PacketListener(PacketListener.Address(bytes: name.bytes, isAbstract: true))
        } catch {
            throw error.code == EADDRINUSE ? .taken(name) : .refused(error)
        }
    }
}

extension PortNames {
    /// Takes a name, and listens under it.
    ///
    /// - Throws: ``PortNameError/Reason/taken`` if a live port has the name.
    func register(_ name: PortName) throws(PortNameError) -> PortRegistration {
        try PortRegistration(name, in: place)
    }

    /// Connects to the port that has a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - deadline: The time at which the call gives up if the port has no room for a connection; nil for never.
    /// - Returns: The connection.
    /// - Throws: ``PortNameError/Reason/unknown``, without waiting, if no port has the name.
    func connect(
        to name: PortName, before deadline: ContinuousClock.Instant?
    ) throws(PortNameError) -> PacketSocket {
        do {
            if name.isAbstract {
                let address = PacketListener.Address(bytes: name.bytes, isAbstract: true)
                return try PacketSocket(address, before: deadline)
            }
            let directory = try NameDirectory(place, makes: false)
            return try PacketSocket(directory.address(of: name.bytes), before: deadline)
        } catch let error as SystemError {
            switch error.code {
            case ENOENT, ECONNREFUSED: throw .unknown(name)
            case EAGAIN: throw .timedOut(name)
            default: throw .refused(error)
            }
        } catch let error as PortNameError {
            if error.systemError?.code == ENOENT { throw .unknown(name) }
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
    }
}
