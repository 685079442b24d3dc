internal import Glibc
internal import RunLoops

/// The device and the inode number of a file, which identify the file.
///
/// A later check can compare them, to find out if a path still leads to the same file.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    private init(_ status: stat) {
        device = status.st_dev
        number = status.st_ino
    }

    /// Identifies a file in a directory, or returns nil if there is no such file.
    ///
    /// If the file is a symbolic link, the link itself is identified.
    init?(of file: [UInt8], in directory: CInt) throws(SystemError) {
        var status = stat()
        do {
            // Safe: the kernel reads the string, and fills our own value.
            _ = try systemCall("fstatat") {
                unsafe fstatat(directory, FileIdentity.path(file), &status, AT_SYMLINK_NOFOLLOW)
            }
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
        self.init(status)
    }

    /// Identifies an open file.
    private init(of descriptor: CInt) throws(SystemError) {
        var status = stat()
        // Safe: the kernel fills our own value.
        _ = try systemCall("fstat") { unsafe fstat(descriptor, &status) }
        self.init(status)
    }

    /// True if a name in a directory still leads to the given open file.
    static func isInPlace(_ opened: CInt, _ file: [UInt8], _ directory: CInt) throws(SystemError) -> Bool {
        let own = try FileIdentity(of: opened)
        return try FileIdentity(of: file, in: directory) == own
    }

    /// Returns the name of a file as the zero-terminated string that the kernel expects.
    static func path(_ file: [UInt8]) -> [CChar] { file.map { CChar(bitPattern: $0) } + [0] }
}
