internal import CRunLoops
internal import Glibc
internal import RunLoops

/// An open directory for the sockets of plain port names; a check has shown that it belongs to the user alone.
///
/// Every operation in the directory uses the directory's descriptor. So the directory that is used is the directory that was
/// checked, even if the path now leads to another directory. `bind` and `connect` take a path, and cannot take the descriptor of a
/// directory. So they get a path that leads through the descriptor, such as `/proc/self/fd/7/clock`.
struct NameDirectory: ~Copyable, Sendable {
    let path: String
    private let owned: OwnedDescriptor
    private let descriptors: String

    /// Opens and checks a directory of names.
    ///
    /// - Parameters:
    ///   - place: The user's own directory of names, or a given directory.
    ///   - makes: True to create the directory if it does not exist.
    ///   - descriptors: The directory in which the system lists this process's descriptors. A test passes another directory.
    /// - Throws: The reason that the directory cannot be used. If the directory does not exist and `makes` is false, this is
    ///   ``PortNameError/Reason/refused`` with `ENOENT`.
    init(_ place: PortNames.Place, makes: Bool, descriptors: String = "/proc/self/fd") throws(PortNameError) {
        let path: String
        switch place {
        case .user: path = try NameDirectory.pathOfUser()
        case .directory(let given): path = given
        }
        // Safe, here and below: the kernel reads the string, and no more.
        if makes, unsafe mkdir(path, 0o700) != 0 {
            let code = errno
            if code != EEXIST { throw .refused(SystemError(call: "mkdir", code: code).about(path)) }
        }
        let number: CInt
        do {
            number = try systemCall("open") {
                unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
        } catch {
            if error.code == ELOOP || error.code == ENOTDIR {
                throw .unsafeDirectory(path, "it is not a directory, or it is a link to one")
            }
            throw .refused(error.about(path))
        }
        let directory = OwnedDescriptor(number)
        var status = stat()
        // Safe: the kernel fills our own value.
        if unsafe fstat(number, &status) != 0 {
            throw .refused(SystemError(call: "fstat", code: errno).about(path))
        }
        if status.st_uid != geteuid() {
            throw .unsafeDirectory(path, "it belongs to user \(status.st_uid), not to user \(geteuid())")
        }
        let mode = status.st_mode & 0o777
        if mode & 0o077 != 0 {
            throw .unsafeDirectory(path, "other users may enter it (mode \(String(mode, radix: 8)), not 700)")
        }
        // Without the directory of descriptors, only the path leads to the directory, and the path can be swapped. So this throws,
        // and does not fall back to the path.
        var found = stat()
        let refusal = unsafe stat("\(descriptors)/\(number)", &found) == 0 ? 0 : errno
        if ![0, ENOENT, ENOTDIR, EACCES].contains(refusal) {
            throw .refused(SystemError(call: "stat", code: refusal).about(path))
        }
        if refusal != 0 || found.st_dev != status.st_dev || found.st_ino != status.st_ino {
            throw .unsafeDirectory(
                path, "it cannot be used by its descriptor, because there is no \(descriptors)")
        }
        owned = directory
        self.path = path
        self.descriptors = descriptors
    }

    /// The directory's descriptor, for system calls that take a path relative to a directory.
    var descriptor: CInt { owned.descriptor }

    /// True if ``path`` still leads to this directory.
    var isInPlace: Bool {
        get throws(SystemError) {
            try FileIdentity.isInPlace(owned.descriptor, Array(path.utf8), AT_FDCWD)
        }
    }

    /// Returns the socket address of a file in the directory.
    ///
    /// The address leads through the descriptor, and not through the directory's path, which may be too long for a socket address.
    borrowing func address(of file: [UInt8]) -> PacketListener.Address {
        let path = Array("\(descriptors)/\(descriptor)/".utf8) + file
        return PacketListener.Address(bytes: path, isAbstract: false)
    }

    /// Returns the path of the directory that holds the user's port names.
    ///
    /// Its parent is the first suitable directory of these three: `XDG_RUNTIME_DIR`, `/run/user/` with the user's number, and
    /// `HOME`. A directory is suitable if it belongs to the user, and no other user is allowed to write to it. So no other user can
    /// make the directory first.
    ///
    /// - Throws: ``PortNameError/Reason/noDirectory`` if none of the three is suitable, with the reason for each.
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
        throw PortNameError(.noDirectory, details: flaws.joined(separator: ", "))
    }

    /// The value of an environment variable, or an empty string if it is not set.
    private static func environment(_ name: String) -> String {
        // Safe: the value is copied immediately; no program may change the environment while another thread reads it.
        guard let value = unsafe getenv(name) else { return "" }
        return unsafe String(cString: value)
    }

    /// Returns nil if a directory can be the parent of the user's directory of names, or otherwise the reason that it cannot.
    private static func flaw(of place: String) -> String? {
        if place.isEmpty { return "is not set" }
        // By the standard of XDG_RUNTIME_DIR, a relative path is ignored.
        if !place.hasPrefix("/") { return "is not an absolute path" }
        var status = stat()
        // Safe: the kernel reads the string, and fills our own value.
        if unsafe stat(place, &status) != 0 {
            let code = errno
            return code == ENOENT
                ? "does not exist" : "cannot be checked: \(SystemError(call: "stat", code: code))"
        }
        if status.st_mode & S_IFMT != S_IFDIR { return "is not a directory" }
        // This check also covers an administrator who runs a program with a user's environment: a directory that the program made
        // there would be in the user's way.
        if status.st_uid != geteuid() { return "belongs to user \(status.st_uid), not to user \(geteuid())" }
        if status.st_mode & 0o022 != 0 {
            return "can be written to by other users (mode \(String(status.st_mode & 0o7777, radix: 8)))"
        }
        return nil
    }
}
