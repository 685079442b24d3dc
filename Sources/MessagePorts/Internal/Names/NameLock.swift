internal import CRunLoops
internal import Glibc
internal import RunLoops

/// A file lock that gives a plain port name to this process alone.
///
/// The locked file is in the same directory as the name's socket. When the process ends, for any reason, the kernel releases the
/// lock. So the files that a killed owner leaves behind do not block the next owner. The process that has the lock may replace and
/// remove the name's files.
struct NameLock: ~Copyable, Sendable {
    private let directory: NameDirectory
    private let name: PortName
    private let lock: OwnedDescriptor
    /// The identity of the socket that listens under the name, or nil until the socket is made.
    private var socket: FileIdentity?
    /// The ID of the process that took the name.
    ///
    /// A forked child has another process ID. So it recognizes that it did not take the name, and destroys its copy of this value
    /// without touching the files.
    private let processID = getpid()

    /// Locks a name for this process.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - directory: The directory that holds the name.
    ///   - midway: Called after the lock file is opened and before it is locked, for tests.
    /// - Throws: ``PortNameError/Reason/taken`` if a live port has the name.
    init(
        _ name: PortName, in directory: consuming NameDirectory, midway: () -> Void = {}
    ) throws(PortNameError) {
        let file = NameLock.lockFile(of: name)
        let address = directory.address(of: name.bytes)
        let deadline = ContinuousClock.now + NameLock.dyingTime
        do {
            while true {
                let lock = try NameLock.open(file, in: directory)
                midway()
                if try !NameLock.take(lock) {
                    if try NameLock.isBound(address) || .now >= deadline { throw PortNameError.taken(name) }
                    // Nobody opens this gate: the thread waits a little.
                    _ = ThreadGate().wait(until: Moment(.now + .milliseconds(1)))
                    continue
                }
                // The previous owner may have removed the file between opening and locking. In that case, the lock protects
                // nothing.
                if try !FileIdentity.isInPlace(lock.descriptor, file, directory.descriptor) { continue }
                // If the directory was cleaned, another port may have the name although the lock file is new. So this check comes
                // before the initializer completes: `deinit` would remove that port's socket.
                if try NameLock.isAnswered(address) { throw PortNameError.taken(name) }
                self.lock = lock
                break
            }
        } catch let error as SystemError {
            throw .refused(error)
        } catch let error as PortNameError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
        self.name = name
        self.directory = directory
    }

    /// The time for which a locked name without a port counts as that of a process that is ending, or that is about to listen.
    ///
    /// When a process is killed, its connections can end before its lock is released. So a process that has just seen the end of a
    /// connection may find the name locked for a moment.
    private static let dyingTime = Duration.milliseconds(200)

    /// Takes a lock without waiting.
    ///
    /// - Returns: False if another process has it.
    private static func take(_ lock: borrowing OwnedDescriptor) throws(SystemError) -> Bool {
        let number = lock.descriptor
        do {
            _ = try systemCall("flock") { flock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw error
        }
    }

    deinit {
        // The files are removed only if the locked file is still the file that other processes see. If the directory was cleaned,
        // another port may have the name by now.
        let file = NameLock.lockFile(of: name)
        do {
            if getpid() != processID { return }
            if try !FileIdentity.isInPlace(lock.descriptor, file, directory.descriptor) { return }
        } catch {
            // The files stay, and the next owner of the name replaces them.
            return
        }
        NameLock.remove(name.bytes, in: directory.descriptor)
        // The lock file is removed last, while it is still locked. A process that has opened the file notices the removal when it
        // gets the lock, and makes another file.
        NameLock.remove(file, in: directory.descriptor)
    }

    /// Makes the socket that listens under the name.
    mutating func listen() throws(PortNameError) -> PacketListener {
        let provisional = Array(".".utf8) + name.bytes + Array(".new".utf8)
        NameLock.remove(provisional, in: directory.descriptor)
        let listener: PacketListener
        do { listener = try PacketListener(directory.address(of: provisional)) } catch {
            // The socket may have been bound before the kernel refused.
            NameLock.remove(provisional, in: directory.descriptor)
            throw .refused(error)
        }
        // The identity is recorded before the rename, because another process could replace the socket after the rename.
        do { socket = try FileIdentity(of: provisional, in: directory.descriptor) } catch {
            NameLock.remove(provisional, in: directory.descriptor)
            throw .refused(error)
        }
        // The rename replaces a killed owner's socket in one step, after the new socket has begun to listen. So a look-up finds
        // either a port that listens or no port.
        let number = directory.descriptor
        do {
            _ = try systemCall("renameat") {
                // Safe: the kernel reads the strings, and no more.
                unsafe renameat(number, FileIdentity.path(provisional), number, FileIdentity.path(name.bytes))
            }
        } catch {
            NameLock.remove(provisional, in: directory.descriptor)
            throw .refused(error)
        }
        return listener
    }

    /// True if this port still has its name.
    ///
    /// This is false if the lock file, the socket or their directory was removed, moved or replaced. If the kernel refuses the
    /// check, nothing is known to be lost.
    var isInPlace: Bool {
        do {
            return try directory.isInPlace
                && FileIdentity.isInPlace(lock.descriptor, NameLock.lockFile(of: name), directory.descriptor)
                && socket != nil && FileIdentity(of: name.bytes, in: directory.descriptor) == socket
        } catch { return true }
    }

    /// Makes a watch that reports each event that can make ``isInPlace`` false.
    borrowing func watch() throws(SystemError) -> NameWatch {
        try NameWatch(
            directory: directory.address(of: []).bytes, files: [name.bytes, NameLock.lockFile(of: name)])
    }

    /// True if a port listens at an address.
    private static func isAnswered(_ address: PacketListener.Address) throws(PortNameError) -> Bool {
        do {
            _ = try PacketSocket(address, before: .now)
            return true
        } catch {
            switch error.code {
            case EAGAIN: return true
            case ENOENT, ECONNREFUSED, EPROTOTYPE: return false
            default: throw .refused(error)
            }
        }
    }

    /// True if a socket is bound to an address; the process that has it does not notice the question.
    private static func isBound(_ address: PacketListener.Address) throws(SystemError) -> Bool {
        let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let probe = OwnedDescriptor(try systemCall("socket") { Glibc.socket(AF_UNIX, kind, 0) })
        let number = probe.descriptor
        do throws(SystemError) {
            _ = try systemCall("connect") {
                // Safe: the kernel reads the address within its bounds.
                unsafe address.bytes.withUnsafeBytes { bytes in
                    unsafe runloops_connect(
                        number, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                        address.isAbstract, 1)
                }
            }
            return true
        } catch {
            switch error.code {
            // A socket of another kind is bound, such as that of a port.
            case EPROTOTYPE: return true
            case ENOENT, ECONNREFUSED: return false
            default: throw error
            }
        }
    }

    private static func lockFile(of name: PortName) -> [UInt8] {
        Array(".".utf8) + name.bytes + Array(".lock".utf8)
    }

    private static func open(
        _ file: [UInt8], in directory: borrowing NameDirectory
    ) throws(PortNameError) -> OwnedDescriptor {
        let number = directory.descriptor
        do {
            return OwnedDescriptor(
                try systemCall("openat") {
                    // Safe: the kernel reads the string, and no more.
                    unsafe openat(
                        number, FileIdentity.path(file), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
                })
        } catch { throw .refused(error) }
    }

    /// Removes a file, if it exists.
    ///
    /// If the kernel refuses, the file stays, and the next owner of the name replaces it.
    private static func remove(_ file: [UInt8], in directory: CInt) {
        // Safe: the kernel reads the string, and no more.
        _ = unsafe unlinkat(directory, FileIdentity.path(file), 0)
    }
}
