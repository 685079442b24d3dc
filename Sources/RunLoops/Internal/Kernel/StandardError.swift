internal import Glibc

extension RunLoop {
    /// Tells whoever runs the program something that no caller can be told.
    static func say(_ message: String) {
        let line = Array((message + "\n").utf8)
        // Safe: the kernel reads our own array. That nobody may read it is not worth ending for.
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }
}
