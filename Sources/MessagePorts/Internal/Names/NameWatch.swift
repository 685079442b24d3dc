internal import Glibc
internal import RunLoops

/// An inotify descriptor that becomes readable when a port has possibly lost its socket file or its lock file.
///
/// A file is lost if it is removed, moved or replaced.
///
/// The kernel reports changes of these files and of their directory itself. It does not report changes of other files in the
/// directory, so those changes wake up no process.
struct NameWatch: ~Copyable, Sendable {
    private let owned: OwnedDescriptor

    /// The inotify descriptor, to be watched for reading.
    var descriptor: CInt { owned.descriptor }

    /// Makes a watch of a directory and of files in it.
    ///
    /// A file that does not exist is not watched.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory, with a slash at its end.
    ///   - files: The names of the port's socket file and lock file in that directory.
    /// - Throws: `SystemError` if the kernel cannot watch the files.
    init(directory: [UInt8], files: [[UInt8]]) throws(SystemError) {
        let watch = OwnedDescriptor(
            try systemCall("inotify_init1") { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) })
        // The lock file is open and the socket is bound, so removing the name of either does not make the kernel delete the file.
        // The removal only changes the file's attributes, so the watch asks for changes of attributes, too.
        let removal = UInt32(IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        try NameWatch.add(directory, UInt32(IN_DELETE_SELF | IN_MOVE_SELF), to: watch.descriptor)
        for file in files {
            try NameWatch.add(directory + file, removal | UInt32(IN_DONT_FOLLOW), to: watch.descriptor)
        }
        owned = watch
    }

    private static func add(_ path: [UInt8], _ events: UInt32, to watch: CInt) throws(SystemError) {
        do {
            // Safe: the kernel reads the string, and no more.
            _ = try systemCall("inotify_add_watch") {
                unsafe inotify_add_watch(watch, FileIdentity.path(path), events)
            }
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    /// Reads and discards the pending events, so that the descriptor becomes readable again only after later changes.
    borrowing func drain() {
        // Safe: the kernel fills at most as many bytes as the buffer has.
        unsafe withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            while unsafe read(owned.descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
