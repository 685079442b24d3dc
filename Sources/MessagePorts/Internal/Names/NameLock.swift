internal import Glibc
internal import RunLoops

/// A plain name that this process has, and nobody else: a lock on a file beside it.
///
/// The kernel gives the lock up when the process ends, however it ends, so what is left of a killed owner is in nobody's way.
/// Who has the lock may do with the name's files what it likes.
struct NameLock: ~Copyable, Sendable {
    private let directory: NameDirectory
    private let name: PortName
    private let lock: OwnedDescriptor
    /// Who took it: a forked child ends its copy without touching the files.
    private let processID = getpid()

    /// Takes a name.
    ///
    /// - Parameters:
    ///   - name: Which.
    ///   - directory: Where.
    ///   - midway: What a test does between finding the lock and taking it.
    /// - Throws: ``PortNameError/taken(_:)`` if a port that is alive has it.
    init(
        _ name: PortName, in directory: consuming NameDirectory, midway: () -> Void = {}
    ) throws(PortNameError) {
        let file = NameLock.lockFile(of: name)
        while true {
            let lock = try NameLock.open(file, in: directory)
            midway()
            if flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                if code == EINTR { continue }
                throw code == EWOULDBLOCK ? .taken(name) : .refused(SystemError(call: "flock", code: code))
            }
            // Its last owner may have removed it between our two calls; then the lock is one on nothing.
            if NameLock.isInPlace(lock.descriptor, file, directory.descriptor) {
                // If somebody has cleaned the directory, a port may have the name all the same. Then its socket is not ours to
                // remove, so this comes before there is a value that would.
                if try NameLock.isAnswered(directory.address(of: name.bytes)) { throw .taken(name) }
                self.lock = lock
                break
            }
        }
        self.name = name
        self.directory = directory
    }

    deinit {
        // Only while the lock is that of the file that others see: if somebody has cleaned the directory meanwhile, the name
        // may be another port's by now.
        let file = NameLock.lockFile(of: name)
        if getpid() != processID || !NameLock.isInPlace(lock.descriptor, file, directory.descriptor) {
            return
        }
        NameLock.remove(name.bytes, in: directory.descriptor)
        // Last, while it is still locked: who opens it from now on finds out, and makes another one.
        NameLock.remove(file, in: directory.descriptor)
    }

    /// Listens under the name.
    borrowing func listen() throws(PortNameError) -> PacketListener {
        let provisional = Array(".".utf8) + name.bytes + Array(".new".utf8)
        NameLock.remove(provisional, in: directory.descriptor)
        let listener: PacketListener
        do { listener = try PacketListener(directory.address(of: provisional)) } catch {
            // It may have been bound before it was refused.
            NameLock.remove(provisional, in: directory.descriptor)
            throw .refused(error)
        }
        // At once in the place of what a killed owner has left, and only now that it listens: who looks the name up finds
        // either somebody or nobody.
        let number = directory.descriptor
        do {
            _ = try systemCall("renameat") {
                // Safe: the kernel reads the strings, and no more.
                unsafe renameat(number, NameLock.path(provisional), number, NameLock.path(name.bytes))
            }
        } catch {
            NameLock.remove(provisional, in: directory.descriptor)
            throw .refused(error)
        }
        return listener
    }

    /// Whether somebody listens there.
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
                    unsafe openat(number, path(file), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
                })
        } catch { throw .refused(error) }
    }

    /// Whether a file is still the one that its name leads to.
    private static func isInPlace(_ lock: CInt, _ file: [UInt8], _ directory: CInt) -> Bool {
        var opened = stat()
        var found = stat()
        // Safe, both: the kernel fills our own values.
        if unsafe fstat(lock, &opened) != 0 { return false }
        if unsafe fstatat(directory, path(file), &found, AT_SYMLINK_NOFOLLOW) != 0 { return false }
        return opened.st_dev == found.st_dev && opened.st_ino == found.st_ino
    }

    /// Removes a file, if it is there.
    ///
    /// Where that is refused it stays, and who takes the name next replaces it.
    private static func remove(_ file: [UInt8], in directory: CInt) {
        // Safe: the kernel reads the string, and no more.
        _ = unsafe unlinkat(directory, path(file), 0)
    }

    /// A file's name for the kernel: ends with a zero.
    private static func path(_ file: [UInt8]) -> [CChar] { file.map { CChar(bitPattern: $0) } + [0] }
}
