internal import CSockets
internal import Glibc
internal import RunLoops

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
    /// - Throws: Why it cannot be used; `ENOENT` if it is not there and is not to be made.
    init(_ place: PortNames.Place, makes: Bool, descriptors: String = "/proc/self/fd") throws(PortNameError) {
        let path: String
        switch place {
        case .user: path = try NameDirectory.pathOfUser()
        case .directory(let given): path = given
        }
        // Safe, here and below: the kernel reads the string, and no more.
        if makes, unsafe mkdir(path, 0o700) != 0 {
            let code = errno
            if code != EEXIST { throw .refused(SystemError(call: "mkdir", code: code, origin: .file(path))) }
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
            throw .refused(error.about(.file(path)))
        }
        let directory = OwnedDescriptor(number)
        var status = stat()
        // Safe: the kernel fills our own value.
        if unsafe fstat(number, &status) != 0 {
            throw .refused(SystemError(call: "fstat", code: errno, origin: .file(path)))
        }
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

    /// The directory of the user's names, in the first place that belongs to the user and that no other user may write to:
    /// so no other user can make the directory first.
    ///
    /// - Throws: ``PortNameError/noDirectory(reason:)`` if there is no such place, with what is wrong with each.
    static func pathOfUser() throws(PortNameError) -> String {
        let system = "/run/user/\(geteuid())"
        var flaws: [String] = []
        for (variable, place, file) in [
            ("XDG_RUNTIME_DIR", environment("XDG_RUNTIME_DIR"), "run-loops"), (nil, system, "run-loops"),
            ("HOME", environment("HOME"), ".run-loops"),
        ] {
            guard let flaw = flaw(of: place) else { return "\(place)/\(file)" }
            let given = variable.map { place.isEmpty ? $0 : "\($0)=\(place)" }
            flaws.append("\(given ?? place) \(flaw)")
        }
        throw .noDirectory(reason: flaws.joined(separator: ", "))
    }

    /// A variable of the environment; empty if it is not set.
    private static func environment(_ name: String) -> String {
        // Safe: the value is copied at once; no program may change the environment while others read it.
        guard let value = unsafe getenv(name) else { return "" }
        return unsafe String(cString: value)
    }

    /// The reason that a directory is no place for the user's names; nil if it is one.
    private static func flaw(of place: String) -> String? {
        if place.isEmpty { return "is not set" }
        // By the standard of XDG_RUNTIME_DIR, a path that does not begin at the root is ignored.
        if !place.hasPrefix("/") { return "is no path from the root on" }
        var status = stat()
        // Safe: the kernel reads the string, and fills our own value.
        if unsafe stat(place, &status) != 0 {
            return errno == ENOENT ? "does not exist" : "cannot be looked at"
        }
        if status.st_mode & S_IFMT != S_IFDIR { return "is no directory" }
        // Also where the administrator runs a program with the environment of a user: what it made there would be in the
        // user's way.
        if status.st_uid != geteuid() { return "is user \(status.st_uid)'s, not \(geteuid())'s" }
        if status.st_mode & 0o022 != 0 {
            return "can be written to by others (mode \(String(status.st_mode & 0o7777, radix: 8)))"
        }
        return nil
    }
}
