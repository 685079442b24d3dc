internal import Glibc
internal import RunLoops

/// Certificates or a private key in PEM, which is a text form, and the source of the text.
///
/// Two texts are equal if their bytes are equal, whatever their sources are.
package struct PEM: Hashable, Sendable {
    package let bytes: [UInt8]
    /// The source of the bytes: the path of a file, or the name of a parameter.
    package let source: String

    init(bytes: [UInt8], source: String) {
        self.bytes = bytes
        self.source = source
    }

    /// The maximum size of a file, in bytes.
    ///
    /// No file with certificates or a key is larger, so a larger file is refused.
    private static let sizeLimit = 16 << 20

    init(file: String) throws(SystemError) {
        do throws(SystemError) { bytes = try PEM.read(file) } catch {
            throw error.about(file)
        }
        source = file
    }

    package static func == (one: PEM, other: PEM) -> Bool { one.bytes == other.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    private static func read(_ file: String) throws(SystemError) -> [UInt8] {
        if file.utf8.contains(0) { throw SystemError(call: "open", code: EINVAL) }
        // Safe, like the call of `read` below: the kernel reads the path, and writes only to a local array.
        let number = try systemCall("open") { unsafe open(file, O_RDONLY | O_CLOEXEC) }
        let descriptor = OwnedDescriptor(number)
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(descriptor.descriptor, &part, part.count)
            let code = errno
            if count == 0 { return bytes }
            if count < 0 && code == EINTR { continue }
            if count < 0 { throw SystemError(call: "read", code: code) }
            bytes += part.prefix(count)
            if bytes.count > sizeLimit { throw SystemError(call: "read", code: EFBIG) }
        }
    }
}
