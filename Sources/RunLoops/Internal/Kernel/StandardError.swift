internal import CThreads
internal import Glibc

extension RunLoop {
    /// Tells whoever runs the program something that no caller can be told.
    ///
    /// That nobody may read it is not worth ending for, neither by an error nor by a signal.
    static func say(_ message: String) {
        let line = Array((message + "\n").utf8)
        // Safe: the function reads our own array.
        unsafe runloops_say(line, line.count)
    }
}
