internal import CSockets
internal import Glibc

/// The directory of the plain names, opened and found to be the user's alone.
///
/// What is done in it is done through its descriptor, so that it stays the one that was looked at.
struct NameDirectory: ~Copyable, Sendable {
    let path: String
    private let owned: OwnedDescriptor

    /// Opens the directory of a place.
    ///
    /// - Parameters:
    ///   - place: Which.
    ///   - makes: Whether it is made if it is not there.
    /// - Throws: Why it cannot be used; `ENOENT` of `open` if it is not there.
    init(_ place: PortNames.Place, makes: Bool) throws(PortNameError) {
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
        let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if number < 0 {
            let code = errno
            if code == ELOOP || code == ENOTDIR {
                throw .unsafeDirectory(path: path, reason: "it is no directory, or a link to one")
            }
            throw .refused(SystemError(call: "open", code: code))
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
        owned = directory
        self.path = path
    }

    /// The number of the directory, for the calls that take a path from there.
    var descriptor: CInt { owned.descriptor }

    /// The address of a file in it.
    borrowing func address(of file: [UInt8]) -> PacketListener.Address {
        let plain = Array(path.utf8) + [UInt8(ascii: "/")] + file
        if plain.count <= PacketListener.Address.longestPath {
            return PacketListener.Address(bytes: plain, isAbstract: false)
        }
        // An address has little room; through the descriptor every directory is near.
        let short = Array("/proc/self/fd/\(descriptor)/".utf8) + file
        return PacketListener.Address(bytes: short, isAbstract: false)
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
