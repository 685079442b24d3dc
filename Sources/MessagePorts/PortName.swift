/// The name of a port, by which other processes of this machine find it.
///
/// There are two kinds. A plain name, such as `clock` or `org.example.clock`, is one of the user's: its port is in a directory
/// that only the user may enter, so only the user's own processes, and the system administrator's, can take it or connect
/// to it. An abstract name begins with `@`, as in `@org.example.clock`. It is in no directory: every process of the machine
/// in the same network namespace may take it, if it comes first, and connect to it. There the port's filter of
/// peers is the only guard of a server; and a client that relies on the server asks who it is.
///
/// An abstract name carries no user: another user may have taken it before the server does, and a client that relies on the
/// server looks at ``RemotePort/peer``. A plain name cannot be taken so; ``PortNames/user`` says where it is kept.
///
/// Either way a name is its owner's alone, and goes with it: <doc:PortsBetweenProcesses>.
///
/// > Thread safety: a value.
public struct PortName: Hashable, Sendable {
    /// How many bytes a name has at most, in UTF-8, without the `@`.
    public static let mostBytes = 80

    /// Whether it is in no directory, and so anybody's on this machine: it begins with `@`.
    public let isAbstract: Bool

    /// The name without the `@`; bytes, as the kernel compares names.
    let bytes: [UInt8]

    /// Makes a name.
    ///
    /// It has between one byte and ``mostBytes``, no `/` and no control character; a plain one does not begin with a dot.
    ///
    /// - Parameter text: The name; with `@` in front for an abstract one.
    /// - Throws: ``PortNameError/malformed(name:reason:)`` if it can be no name.
    public init(_ text: String) throws(PortNameError) {
        let isAbstract = text.utf8.first == UInt8(ascii: "@")
        let bytes = Array(text.utf8.dropFirst(isAbstract ? 1 : 0))
        if let reason = PortName.flaw(of: bytes, isAbstract: isAbstract) {
            throw .malformed(name: text, reason: reason)
        }
        self.isAbstract = isAbstract
        self.bytes = bytes
    }

    private static func flaw(of bytes: [UInt8], isAbstract: Bool) -> String? {
        if bytes.isEmpty { return "it is empty" }
        if bytes.count > mostBytes { return "it has \(bytes.count) bytes, more than \(mostBytes)" }
        if bytes.contains(UInt8(ascii: "/")) { return "it has a slash" }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "it has a control character" }
        if !isAbstract && bytes[0] == UInt8(ascii: ".") { return "it begins with a dot" }
        return nil
    }
}

extension PortName: CustomStringConvertible {
    /// The name as it was given, with the `@`.
    public var description: String { (isAbstract ? "@" : "") + String(decoding: bytes, as: UTF8.self) }
}
