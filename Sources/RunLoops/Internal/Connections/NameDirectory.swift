internal import CSockets
internal import Glibc

/// The directory of the plain names, opened and found to be the user's alone.
///
/// What is done in it is done through its descriptor, so that it stays the one that was looked at, whatever its path
/// leads to by then. Sockets have no call for that: they are bound and connected by a path that begins with the
/// descriptor, in the directory that the system shows a process its descriptors in.
struct NameDirectory: ~Copyable, Sendable {
    let path: String
    private let owned: OwnedDescriptor
    private let descriptors: String

    /// Opens the directory of a place.
    ///
    /// - Parameters:
    ///   - place: Which.
    ///   - makes: Whether it is made if it is not there.
    ///   - descriptors: Where the system shows a process its descriptors; a test has it look elsewhere.
    /// - Throws: Why it cannot be used; `ENOENT` of `open` if it is not there.
    init(_ place: PortNames.Place, makes: Bool, descriptors: String = "/proc/self/fd") throws(PortNameError) {
        let path: String
        switch place {
        case .user: path = NameDirectory.pathOfUser()
        case .directory(let given): path = given
        }
        // Safe, here and below: the kernel reads the string, and no more.
        if makes, unsafe mkdir(path, 0o700) != 0 {
            let code = errno
            if code != EEXIST { throw .refused(SystemError(call: "mkdir", code: code)) }
        }
        let number: CInt
        do {
            number = try systemCall("open") {
                unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
        } catch {
            if error.code == ELOOP || error.code == ENOTDIR {
                throw .unsafeDirectory(path: path, reason: "it is no directory, or a link to one")
            }
            throw .refused(error)
        }
        let directory = OwnedDescriptor(number)
        var status = stat()
        // Safe: the kernel fills our own value.
        if unsafe fstat(number, &status) != 0 { throw .refused(SystemError(call: "fstat", code: errno)) }
        if status.st_uid != geteuid() {
            throw .unsafeDirectory(path: path, reason: "it is user \(status.st_uid)'s, not \(geteuid())'s")
        }
        let mode = status.st_mode & 0o777
        if mode & 0o077 != 0 {
            throw .unsafeDirectory(
                path: path, reason: "others may enter it (mode \(String(mode, radix: 8)), not 700)")
        }
        // Without that directory there is no other way that a swap of the path could not lead astray: so it is an error,
        // and not the path after all.
        var found = stat()
        let isSeen = unsafe stat("\(descriptors)/\(number)", &found) == 0
        if !isSeen || found.st_dev != status.st_dev || found.st_ino != status.st_ino {
            throw .unsafeDirectory(
                path: path,
                reason: "it cannot be used as it was looked at, because there is no \(descriptors)")
        }
        owned = directory
        self.path = path
        self.descriptors = descriptors
    }

    /// The number of the directory, for the calls that take a path from there.
    var descriptor: CInt { owned.descriptor }

    /// The address of a file in it.
    ///
    /// As short for a directory with a long path: an address has little room.
    borrowing func address(of file: [UInt8]) -> PacketListener.Address {
        let path = Array("\(descriptors)/\(descriptor)/".utf8) + file
        return PacketListener.Address(bytes: path, isAbstract: false)
    }

    private static func pathOfUser() -> String {
        let user = geteuid()
        // Safe: what the environment holds is copied at once; no program may change it while others read it.
        if let set = unsafe getenv("XDG_RUNTIME_DIR") {
            let path = unsafe String(cString: set)
            // By its standard, what is no path from the root on is not looked at.
            if path.hasPrefix("/") { return path + "/run-loops" }
        }
        let system = "/run/user/\(user)"
        var status = stat()
        // Safe: the kernel fills our own value.
        if unsafe lstat(system, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == user {
            return system + "/run-loops"
        }
        return "/tmp/run-loops-\(user)"
    }
}
