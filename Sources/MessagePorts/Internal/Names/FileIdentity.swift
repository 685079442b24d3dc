internal import Glibc

/// The file that a path leads to at one moment, to find out whether it leads to the same one later.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    private init(_ status: stat) {
        device = status.st_dev
        number = status.st_ino
    }

    /// Identifies a file in a directory, without following a link; nil if there is none.
    init?(of file: [UInt8], in directory: CInt) {
        var status = stat()
        // Safe: the kernel reads the string, and fills our own value.
        if unsafe fstatat(directory, FileIdentity.path(file), &status, AT_SYMLINK_NOFOLLOW) != 0 {
            return nil
        }
        self.init(status)
    }

    /// Identifies an open file.
    private init?(of descriptor: CInt) {
        var status = stat()
        // Safe: the kernel fills our own value.
        if unsafe fstat(descriptor, &status) != 0 { return nil }
        self.init(status)
    }

    /// True if an open file is still the one that its name leads to.
    static func isInPlace(_ opened: CInt, _ file: [UInt8], _ directory: CInt) -> Bool {
        guard let own = FileIdentity(of: opened) else { return false }
        return FileIdentity(of: file, in: directory) == own
    }

    /// The name of a file for the kernel, which ends with a zero.
    static func path(_ file: [UInt8]) -> [CChar] { file.map { CChar(bitPattern: $0) } + [0] }
}
