import Glibc
import Inspection
import RunLoops

/// The standard output of the program.
///
/// Every write is checked, because the output can be a full disk or a pipe whose reader has ended.
enum StandardOutput {
    /// The output cannot be written.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// True if the output is a terminal, which obeys escape sequences.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Occupies the numbers of the standard streams that are closed, so that no socket or file of the program gets one of them.
    ///
    /// A write to such a stream fails.
    static func occupyClosedStreams() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // The kernel gives the lowest free number, which is that of the stream. Safe: the call only reads the path.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Writes a text.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``Failure``.
    static func write(_ text: String) throws(Failure) { try write(Array(text.utf8)) }

    /// Writes bytes.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: ``Failure``.
    static func write(_ bytes: [UInt8]) throws(Failure) {
        do throws(SystemError) { try STDOUT_FILENO.write(bytes) } catch {
            throw Failure(description: "the standard output: \(error)")
        }
    }
}
